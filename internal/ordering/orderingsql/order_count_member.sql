SELECT count(*) FROM order_info o WHERE o.user_id = $1
