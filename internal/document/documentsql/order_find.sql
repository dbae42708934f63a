SELECT id FROM order_info WHERE user_id = $1 ORDER BY id LIMIT $2 OFFSET $3
