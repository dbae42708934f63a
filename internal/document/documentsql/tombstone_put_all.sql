INSERT INTO document_tombstone (entity, id, version, deleted_at)
SELECT CAST($2 AS TEXT), r.id, r.version, CAST($3 AS BIGINT)
FROM @rows($1: id text, version int) AS r
WHERE true
ON CONFLICT (entity, id) DO UPDATE SET version = excluded.version, deleted_at = excluded.deleted_at
