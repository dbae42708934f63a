DELETE FROM cart_detail WHERE cart_id = $1 RETURNING id, version
