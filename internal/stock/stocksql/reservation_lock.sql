SELECT h.id, h.state, coalesce(h.reason, '')
FROM hold h
JOIN @rows($1: id text) AS r ON h.id = r.id
ORDER BY h.id
/*pg: FOR UPDATE OF h*/
