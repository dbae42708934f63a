DELETE FROM auth_session
WHERE id IN (SELECT s.id FROM auth_session s WHERE s.ended_at < $1 OR s.expires_at < $1 LIMIT $2)
