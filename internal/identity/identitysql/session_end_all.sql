-- All of an account but one.
UPDATE auth_session SET ended_at = $2, end_reason = $3
WHERE user_id = $1 AND ended_at IS NULL AND id <> $4
RETURNING id
