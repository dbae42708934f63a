INSERT INTO document_tombstone (entity, id, version, deleted_at)
VALUES ($1, $2, $3, $4)
ON CONFLICT (entity, id) DO UPDATE SET version = excluded.version, deleted_at = excluded.deleted_at
