INSERT INTO visit_guest (token_hash, visit_id, created_at) VALUES ($1, $2, $3)
