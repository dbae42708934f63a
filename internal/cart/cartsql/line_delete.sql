-- The array, instead of a join, lets PostgreSQL compare no row with each of a batch: carts come and go, and it may believe
-- that there are none.
DELETE FROM cart_detail WHERE id /*pg: = ANY ($1) *//*sqlite: IN (SELECT id FROM @rows($1: id int)) */
