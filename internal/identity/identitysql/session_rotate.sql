UPDATE auth_session
SET token_hash = $2, previous_hash = $3, next_token = $4, rotated_at = $5, last_seen_at = $5, idle_until = $6
WHERE id = $1
