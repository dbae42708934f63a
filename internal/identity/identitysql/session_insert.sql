INSERT INTO auth_session (id, user_id, token_hash, rotated_at, device, address, created_at, last_seen_at, idle_until, expires_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $7, $8, $9)
