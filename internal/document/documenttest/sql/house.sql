-- name: advance
-- Sets the sequence after inserts with explicit ids. SQLite needs no such step.
SELECT 1
/*pg: , setval(pg_get_serial_sequence('app_user', 'id'), (SELECT COALESCE(MAX(id), 1) FROM app_user)) */

-- name: cart_delete
DELETE FROM cart WHERE id = $1 RETURNING version

-- name: cart_put
INSERT INTO cart (id, user_id, created_at, updated_at)
VALUES ($1, $2, $3, $3)
ON CONFLICT (id) DO UPDATE SET user_id = excluded.user_id, updated_at = excluded.updated_at, version = cart.version + 1

-- name: cart_revive
UPDATE cart SET version = $2 + 1 WHERE id = $1 AND version <= $2

-- name: category_put
INSERT INTO category (id, names, created_at, updated_at)
VALUES ($1, $2, $3, $3)
ON CONFLICT (id) DO UPDATE SET names = excluded.names, updated_at = excluded.updated_at, version = category.version + 1

-- name: detail_delete
DELETE FROM cart_detail WHERE id = $1 RETURNING version

-- name: detail_delete_cart
DELETE FROM cart_detail WHERE cart_id = $1 RETURNING id, version

-- name: detail_put
INSERT INTO cart_detail (id, cart_id, dish_id, quantity, price)
VALUES ($1, $2, $3, $4, 1000)
ON CONFLICT (id) DO UPDATE SET cart_id = excluded.cart_id, dish_id = excluded.dish_id, quantity = excluded.quantity,
    version = cart_detail.version + 1

-- name: detail_revive
UPDATE cart_detail SET version = $2 + 1 WHERE id = $1 AND version <= $2

-- name: dish_offer_branch
INSERT INTO branch (id, name, currency, timezone, biz_day_start_hour, locales, auto_close_minutes, created_at)
VALUES (901, 'Offers', 'VND', 'Asia/Ho_Chi_Minh', 4, '["vi"]', 120, $1)
ON CONFLICT (id) DO NOTHING

-- name: dish_offer_item
INSERT INTO menu_item (id, menu_id, branch_id, dish_id)
SELECT d.id + 900000, 901, 901, d.id FROM dish d WHERE d.id IN (SELECT r.id FROM @rows($1: id int) AS r)
ON CONFLICT (id) DO NOTHING

-- name: dish_offer_line
INSERT INTO menu_version_item (version_id, item_id, price)
SELECT 901, d.id + 900000, 50000 FROM dish d WHERE d.id IN (SELECT r.id FROM @rows($1: id int) AS r)
ON CONFLICT (version_id, item_id) DO NOTHING

-- name: dish_offer_menu
INSERT INTO menu (id, branch_id, name) VALUES (901, 901, 'Offers') ON CONFLICT (id) DO NOTHING

-- name: dish_offer_touch
UPDATE dish SET version = version + 1 WHERE id IN (SELECT r.id FROM @rows($1: id int) AS r)

-- name: dish_offer_version
INSERT INTO menu_version (id, menu_id, branch_id, number, status, created_at, published_at)
VALUES (901, 901, 901, 1, 'PUBLISHED', $1, $1)
ON CONFLICT (id) DO NOTHING

-- name: dish_offer_withdraw
DELETE FROM menu_version_item
WHERE version_id = 901 AND item_id IN (SELECT r.id + 900000 FROM @rows($1: id int) AS r)

-- name: dish_put
INSERT INTO dish (id, category_id, names, descriptions, created_at, updated_at)
VALUES ($1, $2, $3, '{}', $4, $4)
ON CONFLICT (id) DO UPDATE SET category_id = excluded.category_id, names = excluded.names,
    updated_at = excluded.updated_at, version = dish.version + 1

-- name: grant_delete
DELETE FROM role_permission WHERE role_id = $1 AND permission_id = $2

-- name: grant_put
INSERT INTO role_permission (role_id, permission_id) VALUES ($1, $2) ON CONFLICT DO NOTHING

-- name: line_put
INSERT INTO order_item (order_id, line, menu_item_id, dish_id, name_id, price_snapshot, qty)
VALUES ($1, $2, 11, $3, 1, 65000, 2)
ON CONFLICT (order_id, line) DO NOTHING

-- name: lines_fill
INSERT INTO order_item (order_id, line, menu_item_id, dish_id, name_id, price_snapshot, qty)
SELECT o.id, l.line, 11, 4, 1, 65000, 2
FROM order_info o
CROSS JOIN (SELECT 1 AS line UNION ALL SELECT 2 UNION ALL SELECT 3) AS l

-- name: order_put
INSERT INTO order_info (id, branch_id, kind, menu_version_id, hold_id, client_txn_id, biz_date, number, status, payment_status,
                        payment_method, total_amount, currency, pay_by, expires_at, created_at, updated_at, user_id, payment_ref)
VALUES ($1, 1, 'DELIVERY', 1, $1, $1, '2026-02-26', 1, $2, 'UNPAID', 'VNPAY', 130000, 'VND', $3, $3, $3, $3, $4, $5)
ON CONFLICT (id) DO UPDATE SET status = excluded.status, payment_ref = excluded.payment_ref,
    updated_at = excluded.updated_at, version = order_info.version + 1

-- name: orders_fill
WITH RECURSIVE n (i) AS (SELECT CAST(1 AS BIGINT) UNION ALL SELECT i + 1 FROM n WHERE i < $1)
INSERT INTO order_info (id, branch_id, kind, menu_version_id, hold_id, client_txn_id, biz_date, number, status, payment_status,
                        payment_method, total_amount, currency, pay_by, expires_at, created_at, updated_at, user_id)
SELECT '06gvt0kfe5o015mr' || CAST(1000000000 + i AS TEXT), 1, 'DELIVERY', 1, CAST(i AS TEXT), CAST(i AS TEXT), '2026-02-26', i,
       'PLACED', 'UNPAID', 'COUNTER', 130000, 'VND', 1772082000000, 1772082000000, 1772082000000, 1772082000000,
       1 + i % $2
FROM n

-- name: permission_put
INSERT INTO permission (id, name, api_path, method, module, created_at, updated_at)
VALUES ($1, $2, $3, 'GET', 'TEST', $4, $4)
ON CONFLICT (id) DO UPDATE SET name = excluded.name, updated_at = excluded.updated_at, version = permission.version + 1

-- name: role_put
INSERT INTO role (id, name, description, created_at, updated_at)
VALUES ($1, $2, 'a role', $3, $3)
ON CONFLICT (id) DO UPDATE SET name = excluded.name, updated_at = excluded.updated_at, version = role.version + 1

-- name: role_touch
UPDATE role SET version = version + 1, updated_at = $2 WHERE id = $1

-- name: user_delete
DELETE FROM app_user WHERE id = $1 RETURNING version

-- name: user_put
INSERT INTO app_user (id, username, email, phone, device_id, google_id, password, role_id, status, province, city, registered,
                      created_at, updated_at)
VALUES ($1, $2, $3, $4, $5, $6, 'a secret', $7, 'ACTIVE', $8, $9, $10, $11, $11)
ON CONFLICT (id) DO UPDATE SET username = excluded.username, email = excluded.email, phone = excluded.phone,
    device_id = excluded.device_id, google_id = excluded.google_id, role_id = excluded.role_id,
    province = excluded.province, city = excluded.city, registered = excluded.registered,
    updated_at = excluded.updated_at, version = app_user.version + 1

-- name: user_revive
UPDATE app_user SET version = $2 + 1 WHERE id = $1 AND version <= $2

-- name: users_fill
WITH RECURSIVE n (i) AS (SELECT CAST(1 AS BIGINT) UNION ALL SELECT i + 1 FROM n WHERE i < $1)
INSERT INTO app_user (id, username, email, phone, role_id, status, address, first_name, surname, province, city, registered,
                      created_at, updated_at)
SELECT i, 'user' || CAST(i AS TEXT), 'user' || CAST(i AS TEXT) || '@example.com', '+8490' || CAST(10000000 + i AS TEXT), 1,
       'ACTIVE', CAST(i AS TEXT) || ' Phố Huế, Hà Nội', 'Minh', 'Nguyễn', 'province ' || CAST(i % 63 AS TEXT),
       'city ' || CAST(i % 700 AS TEXT), i % 2, 1772082000000, 1772082000000
FROM n
