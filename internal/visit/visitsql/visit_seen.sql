UPDATE visit SET last_seen_at = r.at
FROM @rows($1: id text, at int) AS r
WHERE visit.id = r.id AND visit.status = 'OPEN' AND visit.last_seen_at < r.at
