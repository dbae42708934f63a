SELECT entity, ids FROM document_outbox ORDER BY id LIMIT $1
