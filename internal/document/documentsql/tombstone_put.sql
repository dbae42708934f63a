INSERT INTO document_tombstone (id, entity, dead, deleted_at)
SELECT r.id, r.entity, r.dead, r.deleted_at
FROM @rows($1: id text, entity text, dead text, deleted_at int) AS r
