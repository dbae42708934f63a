SELECT s.order_id, s.version, s.at, s.from_status, s.to_status, s.actor
FROM order_step s
JOIN @rows($1: id text) AS r ON s.order_id = r.id
ORDER BY s.order_id, s.version
