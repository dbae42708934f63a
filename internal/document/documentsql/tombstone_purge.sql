DELETE FROM document_tombstone
WHERE (entity, id) IN (SELECT entity, id FROM document_tombstone WHERE deleted_at < $1 LIMIT $2)
