UPDATE document_outbox SET claimed_until = 0 WHERE id IN (SELECT id FROM @rows($1: id text) AS r)
