INSERT INTO cart_detail (cart_id, dish_id, quantity, price, version)
SELECT r.cart_id, r.dish_id, r.quantity, r.price, r.version
FROM @rows($1: cart_id int, dish_id int, quantity int, price int, version int) AS r
WHERE true
ORDER BY r.cart_id
ON CONFLICT (cart_id, dish_id) DO UPDATE SET
    quantity = excluded.quantity, price = excluded.price, version = excluded.version
RETURNING cart_id, dish_id, id
