-- Carts with their lines; a cart without any comes with a line of nothing.
SELECT c.user_id, c.id, coalesce(c.branch_id, 0), c.version, c.updated_at,
       coalesce(d.id, 0), coalesce(d.dish_id, 0), coalesce(d.quantity, 0), coalesce(d.price, 0), coalesce(d.version, 0)
FROM cart c
JOIN @rows($1: id int) AS r ON c.user_id = r.id
LEFT JOIN cart_detail d ON d.cart_id = c.id
ORDER BY c.id, d.id
