INSERT INTO document_outbox (id, entity, ids, created_at)
SELECT r.id, r.entity, r.ids, r.created_at
FROM @rows($1: id text, entity text, ids text, created_at int) AS r
