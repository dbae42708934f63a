SELECT h.id, coalesce(h.reason, '')
FROM hold h
JOIN @rows($1: id text) AS r ON h.id = r.id
WHERE h.reason IS NOT NULL
