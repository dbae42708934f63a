-- fragment: lines_of_members
FROM cart_detail d
WHERE d.cart_id /*pg: = ANY (ARRAY(SELECT c.id FROM cart c WHERE c.user_id = ANY ($1))) */
    /*sqlite: IN (SELECT c.id FROM cart c WHERE c.user_id IN (SELECT id FROM @rows($1: id int))) */

-- name: branch_first
SELECT b.id FROM branch b WHERE b.retired_at IS NULL ORDER BY b.is_open DESC, b.id LIMIT 1

-- name: cart_count_dish
-- Counts the members' carts that contain a dish and belong to a branch, or to none yet.
SELECT COUNT(DISTINCT d.cart_id)
FROM cart_detail d
JOIN cart c ON c.id = d.cart_id
WHERE d.dish_id = $2 AND (c.branch_id = $1 OR c.branch_id IS NULL)

-- name: cart_delete
-- An array instead of a join: carts are short-lived, and with the statistics of an empty table PostgreSQL would compare
-- every row with the whole batch.
DELETE FROM cart WHERE id /*pg: = ANY ($1) *//*sqlite: IN (SELECT id FROM @rows($1: id int)) */

-- name: cart_ensure
-- If another transaction is inserting the cart, this statement waits for its end. cart_lock then returns the cart.
INSERT INTO cart (user_id, created_at, updated_at, created_by, updated_by, version)
SELECT r.id, CAST($2 AS BIGINT), CAST($2 AS BIGINT), r.name, r.name, 0
FROM @rows($1: id int, name text) AS r
WHERE (SELECT c.id FROM cart c WHERE c.user_id = r.id) IS NULL
ORDER BY r.id
ON CONFLICT (user_id) DO NOTHING

-- name: cart_lock
-- An array instead of a join: carts are short-lived, and with the statistics of an empty table PostgreSQL would compare
-- every row with the whole batch. For the same reason it orders by a sum: ordered by the key alone, PostgreSQL would scan
-- the whole table.
SELECT c.user_id, c.id, coalesce(c.branch_id, 0), c.version, c.updated_at
FROM cart c
WHERE c.user_id /*pg: = ANY ($1) *//*sqlite: IN (SELECT id FROM @rows($1: id int)) */
ORDER BY c.id + 0
/*pg: FOR UPDATE OF c*/

-- name: cart_select
-- Reads carts and their lines in one statement, so that both have the same snapshot. See line_select for the missing join.
SELECT c.user_id, c.id AS cart_id, coalesce(c.branch_id, 0), c.version, c.updated_at,
       0 AS line, 0 AS dish_id, 0 AS quantity, 0 AS price, 0 AS line_version, '' AS options
FROM cart c
WHERE c.user_id /*pg: = ANY ($1) *//*sqlite: IN (SELECT id FROM @rows($1: id int)) */
UNION ALL
SELECT 0, d.cart_id, 0, 0, 0, d.id, d.dish_id, d.quantity, d.price, d.version, d.options
@lines_of_members
ORDER BY line

-- name: cart_update
UPDATE cart
SET branch_id = r.branch_id, updated_at = r.updated_at, updated_by = r.name, version = r.version
FROM @rows($1: id int, branch_id int, updated_at int, name text, version int) AS r
WHERE cart.id = r.id AND cart.version < r.version /*pg: AND cart.id = ANY ($1) */

-- name: dish_names
SELECT d.id, d.names FROM dish d JOIN @rows($1: id int) AS r ON d.id = r.id

-- name: line_delete
-- An array instead of a join: carts are short-lived, and with the statistics of an empty table PostgreSQL would compare
-- every row with the whole batch.
DELETE FROM cart_detail WHERE id /*pg: = ANY ($1) *//*sqlite: IN (SELECT id FROM @rows($1: id int)) */

-- name: line_put
INSERT INTO cart_detail (cart_id, dish_id, options, quantity, price, version)
SELECT r.cart_id, r.dish_id, r.options, r.quantity, r.price, r.version
FROM @rows($1: cart_id int, dish_id int, options text, quantity int, price int, version int) AS r
WHERE true
ORDER BY r.cart_id
ON CONFLICT (cart_id, dish_id, options) DO UPDATE SET
    quantity = excluded.quantity, price = excluded.price, version = excluded.version
RETURNING cart_id, dish_id, options, id

-- name: line_select
-- No join: with the statistics of an empty table PostgreSQL would read all lines for each cart, see cart_delete. See
-- cart_lock for the sum in ORDER BY.
SELECT d.cart_id, d.id, d.dish_id, d.quantity, d.price, d.version, d.options
@lines_of_members
ORDER BY d.id + 0
