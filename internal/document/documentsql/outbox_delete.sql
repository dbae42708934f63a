DELETE FROM document_outbox WHERE id IN (SELECT id FROM @rows($1: id text) AS r)
