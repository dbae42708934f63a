INSERT INTO cart_detail (id, cart_id, dish_id, quantity, price)
VALUES ($1, $2, $3, $4, 1000)
ON CONFLICT (id) DO UPDATE SET cart_id = excluded.cart_id, dish_id = excluded.dish_id, quantity = excluded.quantity,
    version = cart_detail.version + 1
