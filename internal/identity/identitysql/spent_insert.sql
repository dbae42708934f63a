INSERT INTO auth_spent (token_hash, session_id, spent_at) VALUES ($1, $2, $3)
