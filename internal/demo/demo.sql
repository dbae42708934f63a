-- name: branch_insert
INSERT INTO branch (id, name, country, currency, timezone, biz_day_start_hour, locales, auto_close_minutes, pricing, created_at)
SELECT r.id, r.name, r.country, r.currency, r.timezone, r.hour, r.locales, r.minutes, r.pricing, $2
FROM @rows($1: id int, name text, country text, currency text, timezone text, hour int, locales text, minutes int,
           pricing text) AS r
WHERE true
ON CONFLICT DO NOTHING

-- name: branch_conflict
-- Finds branches that have an id of the demo but are not the demo's.
SELECT b.name
FROM branch b
JOIN @rows($1: id int, name text) AS r ON r.id = b.id
WHERE b.name <> r.name

-- name: category_insert
INSERT INTO category (id, sort, names, created_at, updated_at)
SELECT r.id, r.sort, r.names, $2, $2
FROM @rows($1: id int, sort int, names text) AS r

-- name: choice_insert
INSERT INTO option_choice (id, group_id, names, short_name, dish_id, sort, allergens, diets)
SELECT r.id, r.group_id, r.names, r.short_name, r.dish_id, r.sort, r.allergens, r.diets
FROM @rows($1: id int, group_id int, names text, short_name text, dish_id int, sort int, allergens text, diets text) AS r

-- name: delivery_insert
INSERT INTO stock_adjustment (id, branch_id, item_id, kind, units, available, note, actor, created_at)
SELECT r.uid, r.branch_id, r.id, 'RECEIVE', r.available, r.available, 'demo', 'system', $2
FROM @rows($1: id int, branch_id int, uid text, available int) AS r

-- name: dish_insert
INSERT INTO dish (id, image_url, category_id, names, descriptions, tax_class, created_at, updated_at, allergens, diets)
SELECT r.id, r.image_url, r.category_id, r.names, r.descriptions, r.tax_class, $2, $2, r.allergens, r.diets
FROM @rows($1: id int, image_url text, category_id int, names text, descriptions text, tax_class text, allergens text, diets text) AS r

-- name: entry_insert
INSERT INTO menu_version_item (version_id, item_id, sort, price, daily_quota)
SELECT r.version_id, r.item_id, r.sort, r.price, r.quota
FROM @rows($1: version_id int, item_id int, sort int, price int, quota int) AS r

-- name: group_insert
INSERT INTO option_group (id, kind, names, created_at, updated_at)
SELECT r.id, r.kind, r.names, $2, $2
FROM @rows($1: id int, kind text, names text) AS r

-- name: identity_advance
-- Sets the sequences after inserts with explicit ids. SQLite needs no such step.
SELECT 1
/*pg: , setval(pg_get_serial_sequence('branch', 'id'), (SELECT MAX(id) FROM branch)),
  setval(pg_get_serial_sequence('category', 'id'), (SELECT MAX(id) FROM category)),
  setval(pg_get_serial_sequence('dish', 'id'), (SELECT MAX(id) FROM dish)),
  setval(pg_get_serial_sequence('menu', 'id'), (SELECT MAX(id) FROM menu)),
  setval(pg_get_serial_sequence('menu_item', 'id'), (SELECT MAX(id) FROM menu_item)),
  setval(pg_get_serial_sequence('menu_version', 'id'), (SELECT MAX(id) FROM menu_version)),
  setval(pg_get_serial_sequence('option_group', 'id'), (SELECT MAX(id) FROM option_group)),
  setval(pg_get_serial_sequence('option_choice', 'id'), (SELECT MAX(id) FROM option_choice)),
  setval(pg_get_serial_sequence('stock_item', 'id'), (SELECT MAX(id) FROM stock_item)),
  setval(pg_get_serial_sequence('dining_table', 'id'), (SELECT MAX(id) FROM dining_table)) */

-- name: inventory_insert
INSERT INTO inventory (branch_id, item_id, available)
SELECT r.branch_id, r.id, r.available FROM @rows($1: id int, branch_id int, available int) AS r

-- name: item_insert
INSERT INTO menu_item (id, menu_id, branch_id, dish_id, daily_quota)
SELECT r.id, r.menu_id, r.branch_id, r.dish_id, r.quota
FROM @rows($1: id int, menu_id int, branch_id int, dish_id int, quota int) AS r

-- name: menu_insert
INSERT INTO menu (id, branch_id, name)
SELECT r.id, r.branch_id, r.name
FROM @rows($1: id int, branch_id int, name text) AS r

-- name: qr_insert
INSERT INTO table_qr (token, table_id, status, created_at)
SELECT r.token, r.table_id, 'ACTIVE', $2
FROM @rows($1: token text, table_id int) AS r

-- name: recipe_insert
INSERT INTO recipe_line (menu_item_id, item_id, qty)
SELECT r.menu_item_id, r.item_id, r.qty FROM @rows($1: menu_item_id int, item_id int, qty int) AS r

-- name: table_insert
INSERT INTO dining_table (id, branch_id, label, plan_column, plan_row, shape)
SELECT r.id, r.branch_id, r.label, r.plan_column, r.plan_row, r.shape
FROM @rows($1: id int, branch_id int, label text, plan_column int, plan_row int, shape text) AS r

-- name: stock_item_insert
INSERT INTO stock_item (id, branch_id, sku, name, unit, low_at, created_at, updated_at)
SELECT r.id, r.branch_id, r.sku, r.name, r.unit, r.low_at, $2, $2
FROM @rows($1: id int, branch_id int, sku text, name text, unit text, low_at int) AS r

-- name: version_choice_insert
INSERT INTO menu_version_choice
    (version_id, item_id, parent_id, group_id, choice_id, sort, price, is_default, is_active, component_item_id)
SELECT r.version_id, r.item_id, r.parent_id, r.group_id, r.choice_id, r.sort, r.price, r.is_default, 1, r.component
FROM @rows($1: version_id int, item_id int, parent_id int, group_id int, choice_id int, sort int, price int, is_default int, component int) AS r

-- name: version_group_insert
INSERT INTO menu_version_group
    (version_id, item_id, parent_id, group_id, sort, min_units, max_units, free_units, max_each, credit, defaults_charge)
SELECT r.version_id, r.item_id, r.parent_id, r.group_id, r.sort, r.min_units, r.max_units, 0, r.max_each, 0, 1
FROM @rows($1: version_id int, item_id int, parent_id int, group_id int, sort int, min_units int, max_units int, max_each int) AS r

-- name: version_insert
INSERT INTO menu_version (id, menu_id, branch_id, number, status, created_at, published_at)
SELECT r.id, r.menu_id, r.branch_id, 1, 'PUBLISHED', $2, $2
FROM @rows($1: id int, menu_id int, branch_id int) AS r
