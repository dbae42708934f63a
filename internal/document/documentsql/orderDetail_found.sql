SELECT COUNT(*) FROM order_item WHERE order_id = $1
