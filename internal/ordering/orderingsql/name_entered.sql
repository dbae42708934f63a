UPDATE order_info SET named_at = $2
FROM @rows($1: id text) AS r
WHERE order_info.id = r.id
