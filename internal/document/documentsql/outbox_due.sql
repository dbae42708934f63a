SELECT id FROM document_outbox WHERE claimed_until <= $1 ORDER BY id LIMIT 1
