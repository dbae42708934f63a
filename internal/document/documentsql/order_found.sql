SELECT COUNT(*) FROM order_info WHERE user_id = $1
