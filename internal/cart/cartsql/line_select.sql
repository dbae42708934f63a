-- No join: PostgreSQL may believe that there are no lines, and would then read all of them for each cart, see cart_delete;
-- and in the order of a sum, see cart_lock.
SELECT d.cart_id, d.id, d.dish_id, d.quantity, d.price, d.version
FROM cart_detail d
WHERE d.cart_id /*pg: = ANY (ARRAY(SELECT c.id FROM cart c WHERE c.user_id = ANY ($1))) */
    /*sqlite: IN (SELECT c.id FROM cart c WHERE c.user_id IN (SELECT id FROM @rows($1: id int))) */
ORDER BY d.id + 0
