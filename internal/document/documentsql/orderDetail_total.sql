SELECT COUNT(*) FROM order_item
