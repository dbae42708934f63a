SELECT COUNT(*) FROM cart_detail WHERE cart_id = $1
