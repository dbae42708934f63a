SELECT COUNT(*) FROM cart_detail
