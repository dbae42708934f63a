-- fragment: shared_columns
-- Lines that were stored before migration 58 have the whole hash of the phone, later ones 20 digits.
l.visit_id, l.id, substr(l.guest_hash, 1, 20), l.item_id, l.dish_id, l.quantity, l.notes, l.options, l.created_at

-- name: shared_ensure
-- If another transaction is inserting the row, this statement waits for its end.
INSERT INTO visit_cart (visit_id, version, added)
SELECT r.id, 0, 0
FROM @rows($1: id text) AS r
WHERE NOT EXISTS (SELECT 1 FROM visit_cart c WHERE c.visit_id = r.id)
ORDER BY r.id
ON CONFLICT (visit_id) DO NOTHING

-- name: shared_lines
SELECT @shared_columns
FROM visit_cart_line l
WHERE l.quantity > 0 AND l.visit_id /*pg: = ANY ($1) *//*sqlite: IN (SELECT id FROM @rows($1: id text)) */
ORDER BY l.created_at, l.id

-- name: shared_lock
-- An array instead of a join, see cart_lock.
SELECT c.visit_id, c.version, c.added
FROM visit_cart c
WHERE c.visit_id /*pg: = ANY ($1) *//*sqlite: IN (SELECT id FROM @rows($1: id text)) */
ORDER BY c.visit_id
/*pg: FOR UPDATE OF c*/

-- name: shared_over
-- Locks the carts of visits that were closed before $1, by visit id, as all transactions do. CROSS JOIN keeps SQLite from
-- reading all visits.
SELECT c.visit_id
FROM visit_cart c
/*sqlite: CROSS*/ JOIN visit v ON v.id = c.visit_id
WHERE v.status = 'CLOSED' AND v.closed_at <= $1
ORDER BY c.visit_id
LIMIT $2
/*pg: FOR UPDATE OF c*/

-- name: shared_purge
DELETE FROM visit_cart WHERE visit_id /*pg: = ANY ($1) *//*sqlite: IN (SELECT id FROM @rows($1: id text)) */

-- name: shared_purge_lines
DELETE FROM visit_cart_line WHERE visit_id /*pg: = ANY ($1) *//*sqlite: IN (SELECT id FROM @rows($1: id text)) */

-- name: shared_put
INSERT INTO visit_cart_line (visit_id, id, guest_hash, item_id, dish_id, quantity, notes, options, created_at)
SELECT r.visit_id, r.id, r.guest_hash, r.item_id, r.dish_id, r.quantity, r.notes, r.options, r.created_at
FROM @rows($1: visit_id text, id text, guest_hash text, item_id int, dish_id int, quantity int, notes text, options text, created_at int) AS r
WHERE true
ON CONFLICT (visit_id, id) DO UPDATE SET quantity = excluded.quantity, notes = excluded.notes,
    options = excluded.options

-- name: shared_select
-- Reads version and lines in one statement, so that both have the same snapshot.
SELECT c.version, c.added, coalesce(l.id, ''), coalesce(substr(l.guest_hash, 1, 20), ''), coalesce(l.item_id, 0), coalesce(l.dish_id, 0),
       coalesce(l.quantity, 0), coalesce(l.notes, ''), coalesce(l.options, ''), coalesce(l.created_at, 0)
FROM visit_cart c
LEFT JOIN visit_cart_line l ON l.visit_id = c.visit_id AND l.quantity > 0
WHERE c.visit_id = $1
ORDER BY l.created_at, l.id

-- name: shared_tombstones
-- Returns those of the given lines that were removed or ordered before.
SELECT l.visit_id, l.id
FROM visit_cart_line l
JOIN @rows($1: visit_id text, id text) AS r ON l.visit_id = r.visit_id AND l.id = r.id
WHERE l.quantity = 0

-- name: shared_update
UPDATE visit_cart
SET version = r.version, added = r.added
FROM @rows($1: id text, version int, added int) AS r
WHERE visit_cart.visit_id = r.id AND visit_cart.version < r.version

-- name: shared_version
SELECT c.visit_id, c.version
FROM visit_cart c
WHERE c.visit_id /*pg: = ANY ($1) *//*sqlite: IN (SELECT id FROM @rows($1: id text)) */
