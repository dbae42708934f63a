SELECT c.user_id, d.cart_id, d.id, d.dish_id, d.quantity, d.price, d.version
FROM cart c
JOIN @rows($1: id int) AS r ON c.user_id = r.id
JOIN cart_detail d ON d.cart_id = c.id
ORDER BY d.cart_id, d.id
