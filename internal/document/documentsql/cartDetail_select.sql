SELECT d.id, d.cart_id, d.dish_id, d.quantity, d.price, d.quantity * d.price, d.version
FROM cart_detail d
WHERE d.id /*pg: = ANY ($1) *//*sqlite: IN (SELECT id FROM @rows($1: id int)) */
