INSERT INTO document_outbox (id, entity, ids, dead, created_at)
SELECT r.id, r.entity, r.ids, r.dead, r.created_at
FROM @rows($1: id text, entity text, ids text, dead text, created_at int) AS r
