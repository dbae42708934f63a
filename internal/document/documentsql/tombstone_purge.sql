DELETE FROM document_tombstone
WHERE id IN (SELECT id FROM document_tombstone WHERE deleted_at < $1 ORDER BY id LIMIT $2)
