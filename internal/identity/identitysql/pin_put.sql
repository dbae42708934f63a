INSERT INTO user_pin (user_id, hash, failures, updated_at) VALUES ($1, $2, 0, $3)
ON CONFLICT (user_id) DO UPDATE SET hash = excluded.hash, failures = 0, updated_at = excluded.updated_at
