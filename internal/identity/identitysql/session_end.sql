UPDATE auth_session SET ended_at = $3, end_reason = $4 WHERE id = $1 AND user_id = $2 AND ended_at IS NULL
