-- Carts, and behind them their lines; together, so that both are of one moment. No join, as in line_select.
SELECT c.user_id, c.id AS cart_id, coalesce(c.branch_id, 0), c.version, c.updated_at,
       0 AS line, 0 AS dish_id, 0 AS quantity, 0 AS price, 0 AS line_version
FROM cart c
WHERE c.user_id /*pg: = ANY ($1) *//*sqlite: IN (SELECT id FROM @rows($1: id int)) */
UNION ALL
SELECT 0, d.cart_id, 0, 0, 0, d.id, d.dish_id, d.quantity, d.price, d.version
FROM cart_detail d
WHERE d.cart_id /*pg: = ANY (ARRAY(SELECT c.id FROM cart c WHERE c.user_id = ANY ($1))) */
    /*sqlite: IN (SELECT c.id FROM cart c WHERE c.user_id IN (SELECT id FROM @rows($1: id int))) */
ORDER BY line
