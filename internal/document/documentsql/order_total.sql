SELECT COUNT(*) FROM order_info
