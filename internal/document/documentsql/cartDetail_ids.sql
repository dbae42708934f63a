SELECT id FROM cart_detail WHERE id > $1 ORDER BY id LIMIT $2 OFFSET $3
