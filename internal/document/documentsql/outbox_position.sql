SELECT created_at FROM document_outbox ORDER BY id LIMIT 1
