-- The columns hold more than their product can: a line that was imported before imports were bounded shows the highest total
-- there is, because a statement that fails for it would keep the documents of everybody from being read.
SELECT d.id, d.cart_id, d.dish_id, d.quantity, d.price,
       CASE WHEN d.price <= 9223372036854775807 / d.quantity THEN d.quantity * d.price ELSE 9223372036854775807 END, d.version
FROM cart_detail d
WHERE d.id /*pg: = ANY ($1) *//*sqlite: IN (SELECT id FROM @rows($1: id int)) */
