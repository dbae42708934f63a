-- The array, instead of a join, lets PostgreSQL compare no row with each of a batch: carts come and go, and it may believe
-- that there are none. For the same reason the order is of a sum: by the key alone, it would walk through the whole table.
SELECT c.user_id, c.id, coalesce(c.branch_id, 0), c.version, c.updated_at
FROM cart c
WHERE c.user_id /*pg: = ANY ($1) *//*sqlite: IN (SELECT id FROM @rows($1: id int)) */
ORDER BY c.id + 0
/*pg: FOR UPDATE OF c*/
