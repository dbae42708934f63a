UPDATE order_item SET done_at = r.done_at
FROM @rows($1: order_id text, line int, done_at int) AS r
WHERE order_item.order_id = r.order_id AND order_item.line = r.line
