-- name: branch_insert
INSERT INTO branch (id, name, currency, timezone, biz_day_start_hour, locales, auto_close_minutes, created_at)
VALUES ($1, $2, 'VND', 'Asia/Ho_Chi_Minh', 4, '["vi","en"]', 1440, $3)
ON CONFLICT DO NOTHING

-- name: branch_select
SELECT name FROM branch WHERE id = $1

-- name: category_insert
INSERT INTO category (id, sort, names)
SELECT r.id, r.id, r.names
FROM @rows($1: id int, names text) AS r

-- name: counter_add
-- All parts of the key are joined with the rows. Otherwise SQLite would scan the rows once per counter.
UPDATE sales_quota_counter SET held_qty = sales_quota_counter.held_qty + r.qty
FROM @rows($1: branch_id int, stat_date text, item int, qty int) AS r
WHERE sales_quota_counter.branch_id = r.branch_id AND sales_quota_counter.stat_date = r.stat_date
  AND sales_quota_counter.menu_item_id = r.item AND sales_quota_counter.slot_key = 'ALL_DAY'

-- name: counter_insert
INSERT INTO sales_quota_counter (branch_id, stat_date, menu_item_id, cap)
SELECT m.branch_id, CAST($1 AS TEXT), m.id, m.daily_quota
FROM menu_item m
WHERE m.branch_id = 9000

-- name: dish_insert
INSERT INTO dish (id, category_id, names, descriptions)
SELECT r.id, r.category_id, r.names, r.descriptions
FROM @rows($1: id int, category_id int, names text, descriptions text) AS r

-- name: entry_insert
INSERT INTO menu_version_item (version_id, item_id, sort, price, daily_quota)
SELECT CAST($2 AS BIGINT), r.id, r.id, r.price, r.quota
FROM @rows($1: id int, dish_id int, quota int, price int) AS r

-- name: item_insert
INSERT INTO menu_item (id, menu_id, branch_id, dish_id, daily_quota)
SELECT r.id, CAST($2 AS BIGINT), CAST($2 AS BIGINT), r.dish_id, r.quota
FROM @rows($1: id int, dish_id int, quota int, price int) AS r

-- name: menu_insert
INSERT INTO menu (id, branch_id, name) VALUES ($1, $1, $2)

-- name: option_choice_insert
INSERT INTO option_choice (id, group_id, names, sort)
SELECT r.id, r.group_id, r.names, r.id
FROM @rows($1: id int, group_id int, names text) AS r

-- name: option_group_insert
INSERT INTO option_group (id, kind, names, created_at, updated_at)
SELECT r.id, 'CHOICE', r.names, $2, $2
FROM @rows($1: id int, names text) AS r

-- name: option_prices_insert
INSERT INTO menu_version_choice
    (version_id, item_id, parent_id, group_id, choice_id, sort, price, is_default, is_active)
SELECT e.version_id, e.item_id, 0, c.group_id, c.id, c.sort, CAST($2 AS BIGINT), 0, 1
FROM menu_version_item e
CROSS JOIN option_choice c
WHERE e.version_id = $1 AND c.id >= 9000001

-- name: option_rules_insert
INSERT INTO menu_version_group
    (version_id, item_id, parent_id, group_id, sort, min_units, max_units, free_units, max_each, credit, defaults_charge)
SELECT e.version_id, e.item_id, 0, g.id, g.id, 0, 3, 0, 1, 0, 1
FROM menu_version_item e
CROSS JOIN option_group g
WHERE e.version_id = $1 AND g.id >= 9000001

-- name: qr_insert
INSERT INTO table_qr (token, table_id, status, created_at)
SELECT r.token, r.id, 'ACTIVE', CAST($2 AS BIGINT)
FROM @rows($1: id int, label text, token text) AS r

-- name: qr_list
SELECT q.token
FROM table_qr q
JOIN dining_table t ON t.id = q.table_id
WHERE t.branch_id = $1 AND q.status = 'ACTIVE'
ORDER BY t.id

-- name: table_insert
INSERT INTO dining_table (id, branch_id, label)
SELECT r.id, CAST($2 AS BIGINT), r.label
FROM @rows($1: id int, label text, token text) AS r

-- name: version_insert
INSERT INTO menu_version (id, menu_id, branch_id, number, status, created_at, published_at)
VALUES ($1, $1, $1, 1, 'PUBLISHED', $2, $2)
