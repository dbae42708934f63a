SELECT COUNT(*), COALESCE(MIN(created_at), 0) FROM document_outbox
