-- Keeps carts from being deleted until what is put into them is committed: on PostgreSQL no constraint does, and a checkout
-- may come between. In the order in which members' changes lock them, see cart_lock of package cartsql, also for the array.
SELECT c.id
FROM cart c
WHERE c.id /*pg: = ANY ($1) *//*sqlite: IN (SELECT id FROM @rows($1: id int)) */
ORDER BY c.id + 0
/*pg: FOR KEY SHARE OF c*/
