SELECT order_id || '-' || CAST(line AS TEXT)
FROM order_item WHERE order_id = $1 ORDER BY line LIMIT $2 OFFSET $3
