SELECT o.id, o.version
FROM order_info o
JOIN @rows($1: id text) AS r ON o.id = r.id
