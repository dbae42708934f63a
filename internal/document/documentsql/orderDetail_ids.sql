SELECT order_id || '-' || CAST(line AS TEXT)
FROM order_item
WHERE (order_id, line) > ($1, $2)
ORDER BY order_id, line
LIMIT $3 OFFSET $4
