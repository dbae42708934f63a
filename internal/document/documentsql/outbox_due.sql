SELECT id FROM document_outbox WHERE claimed_until <= $1 LIMIT 1
