UPDATE auth_session
SET last_seen_at = r.at, idle_until = CASE WHEN r.idle < auth_session.expires_at THEN r.idle ELSE auth_session.expires_at END
FROM @rows($1: id text, at int, idle int) AS r
WHERE auth_session.id = r.id AND auth_session.ended_at IS NULL AND auth_session.last_seen_at < r.at
