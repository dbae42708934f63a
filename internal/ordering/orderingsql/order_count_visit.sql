SELECT count(*) FROM order_info o WHERE o.visit_id = $1
