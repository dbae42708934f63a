-- All of an account but the newest $4.
UPDATE auth_session SET ended_at = $2, end_reason = $3
WHERE id IN (
    SELECT s.id FROM auth_session s
    WHERE s.user_id = $1 AND s.ended_at IS NULL
    ORDER BY s.created_at DESC, s.id DESC
    LIMIT 1000 OFFSET $4
)
RETURNING id
