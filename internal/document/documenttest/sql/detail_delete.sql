DELETE FROM cart_detail WHERE id = $1 RETURNING version
