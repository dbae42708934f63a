UPDATE hold SET expires_at = r.until
FROM @rows($1: id text, until int) AS r
WHERE hold.id = r.id AND hold.expires_at < r.until
