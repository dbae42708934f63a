INSERT INTO cart (id, user_id, created_at, updated_at)
VALUES ($1, $2, $3, $3)
ON CONFLICT (id) DO UPDATE SET user_id = excluded.user_id, updated_at = excluded.updated_at, version = cart.version + 1
