-- name: cartDetail_find
SELECT id FROM cart_detail WHERE cart_id = $1 ORDER BY id LIMIT $2 OFFSET $3

-- name: cartDetail_find_count
SELECT COUNT(*) FROM cart_detail WHERE cart_id = $1

-- name: cartDetail_ids
SELECT id FROM cart_detail WHERE id > $1 ORDER BY id LIMIT $2 OFFSET $3

-- name: cartDetail_import
-- An existing row takes the imported values and a higher version. A deleted row continues after its tombstone's version.
INSERT INTO cart_detail (id, cart_id, dish_id, options, quantity, price, version)
SELECT r.id, r.cart_id, r.dish_id, coalesce(r.options, ''), r.quantity, r.price, CASE WHEN r.version > r.deleted THEN r.version ELSE r.deleted + 1 END
FROM @rows($1: id int, cart_id int, dish_id int, quantity int, price int, options text, version int, deleted int) AS r
WHERE 1 = 1
ON CONFLICT (id) DO UPDATE SET
    cart_id = excluded.cart_id,
    dish_id = excluded.dish_id,
    options = excluded.options,
    quantity = excluded.quantity,
    price = excluded.price,
    version = CASE WHEN excluded.version > cart_detail.version THEN excluded.version ELSE cart_detail.version + 1 END

-- name: cartDetail_select
-- The product can overflow for lines that were imported before imports had a limit. They have the largest total instead,
-- because an error would make the documents of all carts unreadable.
SELECT d.id, d.cart_id, d.dish_id, d.quantity, d.price,
       CASE WHEN d.price <= 9223372036854775807 / d.quantity THEN d.quantity * d.price ELSE 9223372036854775807 END,
       NULLIF(d.options, ''), d.version
FROM cart_detail d
WHERE d.id /*pg: = ANY ($1) *//*sqlite: IN (SELECT id FROM @rows($1: id int)) */

-- name: cartDetail_sizes_cart
-- The alias makes PostgreSQL sort by the column instead of by the text.
SELECT CAST(t.cart_id AS TEXT), COUNT(*) FROM cart_detail t WHERE t.cart_id > $1 GROUP BY t.cart_id ORDER BY t.cart_id LIMIT $2

-- name: cartDetail_total
SELECT COUNT(*) FROM cart_detail

-- name: cartDetail_conflict
SELECT CAST(r.id AS TEXT), CAST(t.id AS TEXT)
FROM @rows($1: id int, cart_id int, dish_id int, options text) AS r
JOIN cart_detail t ON t.cart_id = r.cart_id AND t.dish_id = r.dish_id AND t.options = coalesce(r.options, '')

-- name: cart_by_user
SELECT CAST(t.user_id AS TEXT), CAST(t.id AS TEXT) FROM cart t JOIN @rows($1: value int) AS w ON t.user_id = w.value

-- name: cart_ids
SELECT id FROM cart WHERE id > $1 ORDER BY id LIMIT $2 OFFSET $3

-- name: cart_import
-- An existing row takes the imported values and a higher version. A deleted row continues after its tombstone's version.
INSERT INTO cart (id, user_id, created_at, updated_at, created_by, updated_by, version)
SELECT r.id, r.user_id, r.created_at, r.updated_at, r.created_by, r.updated_by,
       CASE WHEN r.version > r.deleted THEN r.version ELSE r.deleted + 1 END
FROM @rows($1: id int, user_id int, created_at int, updated_at int, created_by text, updated_by text, version int, deleted int) AS r
WHERE 1 = 1
ON CONFLICT (id) DO UPDATE SET
    user_id = excluded.user_id,
    updated_at = excluded.updated_at,
    created_by = excluded.created_by,
    updated_by = excluded.updated_by,
    version = CASE WHEN excluded.version > cart.version THEN excluded.version ELSE cart.version + 1 END

-- name: cart_keep
-- Prevents a concurrent checkout from deleting carts before their new lines are committed; no constraint on PostgreSQL
-- does. The order of the locks is that of cart_lock in package cartsql, which also explains the array.
SELECT c.id
FROM cart c
WHERE c.id /*pg: = ANY ($1) *//*sqlite: IN (SELECT id FROM @rows($1: id int)) */
ORDER BY c.id + 0
/*pg: FOR KEY SHARE OF c*/

-- name: cart_select
SELECT c.id, c.user_id, c.created_at, c.updated_at, c.created_by, c.updated_by, c.version
FROM cart c
WHERE c.id /*pg: = ANY ($1) *//*sqlite: IN (SELECT id FROM @rows($1: id int)) */

-- name: cart_total
SELECT COUNT(*) FROM cart
