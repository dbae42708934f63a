-- name: entry_delete
-- Changes drafts only (I13).
DELETE FROM menu_version_item
WHERE item_id = $2 AND version_id IN (SELECT v.id FROM menu_version v WHERE v.id = $1 AND v.status = 'DRAFT')

-- name: entry_put
-- Changes drafts only, and accepts only items of the same menu whose dish is not retired. Otherwise it changes no row
-- (I13).
INSERT INTO menu_version_item (version_id, item_id, sort, price, daily_quota, is_active)
SELECT v.id, i.id,
       COALESCE(CAST($6 AS BIGINT), (SELECT MAX(e.sort) + 1 FROM menu_version_item e WHERE e.version_id = v.id), 1),
       $3, $4, $5
FROM menu_version v
JOIN menu_item i ON i.menu_id = v.menu_id
JOIN dish d ON d.id = i.dish_id
WHERE v.id = $1 AND v.status = 'DRAFT' AND i.id = $2 AND d.retired_at IS NULL
ON CONFLICT (version_id, item_id) DO UPDATE
SET sort = COALESCE(CAST($6 AS BIGINT), menu_version_item.sort), price = excluded.price,
    daily_quota = excluded.daily_quota, is_active = excluded.is_active

-- name: item_ensure
-- A new item of a dish that is off is off as well, see off_same_dish. Locks the dish, so that no other transaction retires
-- it before this one commits.
INSERT INTO menu_item (menu_id, branch_id, dish_id, off_at, off_until, off_through, off_by)
SELECT v.menu_id, v.branch_id, d.id, o.off_at, o.off_until, o.off_through, COALESCE(o.off_by, '')
FROM menu_version v
JOIN dish d ON d.id = $2 AND d.retired_at IS NULL
LEFT JOIN menu_item o ON o.id = (
    SELECT MIN(s.id) FROM menu_item s WHERE s.branch_id = v.branch_id AND s.dish_id = d.id AND s.off_at IS NOT NULL)
WHERE v.id = $1
/*pg: FOR SHARE OF d*/
ON CONFLICT (menu_id, dish_id) DO NOTHING

-- name: item_find
SELECT i.id
FROM menu_version v
JOIN menu_item i ON i.menu_id = v.menu_id
WHERE v.id = $1 AND i.dish_id = $2

-- name: menu_branch
SELECT branch_id FROM menu WHERE id = $1

-- name: menu_insert
INSERT INTO menu (branch_id, name) VALUES ($1, $2)
RETURNING id

-- name: combination_insert
INSERT INTO menu_combination (id, branch_id, parts, created_at) VALUES ($1, $2, $3, $4)
ON CONFLICT (id) DO NOTHING

-- name: combination_select
SELECT branch_id, parts FROM menu_combination WHERE id = $1

-- name: menu_list
-- Branch 0 selects all, and so does menu 0.
SELECT m.id, m.branch_id, m.name, m.schedule,
       COALESCE((SELECT v.id FROM menu_version v WHERE v.menu_id = m.id AND v.status = 'PUBLISHED'), 0),
       (SELECT COUNT(*) FROM menu_version v WHERE v.menu_id = m.id AND v.status = 'DRAFT')
FROM menu m
WHERE (CAST($1 AS BIGINT) = 0 OR m.branch_id = $1) AND (CAST($2 AS BIGINT) = 0 OR m.id = $2)
ORDER BY m.branch_id, m.id

-- name: menu_schedule_set
UPDATE menu SET schedule = $2 WHERE id = $1

-- name: published_select
SELECT b.revision, v.id, v.menu_id, m.schedule
FROM branch b
JOIN menu_version v ON v.branch_id = b.id AND v.status = 'PUBLISHED'
JOIN menu m ON m.id = v.menu_id
WHERE b.id = $1
ORDER BY v.menu_id

-- name: version_active_count
SELECT COUNT(*) FROM menu_version_item WHERE version_id = $1 AND is_active = 1

-- name: version_clear
-- Changes drafts only (I13).
DELETE FROM menu_version_item
WHERE version_id IN (SELECT v.id FROM menu_version v WHERE v.id = $1 AND v.status = 'DRAFT')

-- name: version_close
UPDATE menu_version SET status = 'CLOSED', closed_at = $2
WHERE menu_id = $1 AND status = 'PUBLISHED'

-- name: version_copy
-- A draft starts as a copy of the published version, quotas included.
INSERT INTO menu_version_item (version_id, item_id, sort, price, daily_quota, is_active)
SELECT $1, i.item_id, i.sort, i.price, m.daily_quota, i.is_active
FROM menu_version_item i
JOIN menu_version v ON v.id = i.version_id
JOIN menu_item m ON m.id = i.item_id
WHERE v.menu_id = $2 AND v.status = 'PUBLISHED'

-- name: version_count
SELECT COUNT(*) FROM menu_version WHERE menu_id = $1

-- name: version_delete
DELETE FROM menu_version WHERE id = $1 AND status = 'DRAFT'

-- name: version_insert
INSERT INTO menu_version (menu_id, branch_id, number, status, created_at)
SELECT m.id, m.branch_id, COALESCE((SELECT MAX(v.number) FROM menu_version v WHERE v.menu_id = m.id), 0) + 1,
       'DRAFT', $2
FROM menu m
WHERE m.id = $1
RETURNING id

-- name: version_items
-- Returns the items of versions, those of earlier versions in the list first within a category.
SELECT i.version_id, i.item_id, d.id, c.id, c.names, i.price, i.is_active, d.names, d.descriptions, d.image_url, d.tax_class,
       d.allergens, d.diets
FROM menu_version_item i
JOIN @rows($1: id int, place int) AS r ON i.version_id = r.id
JOIN menu_item m ON m.id = i.item_id
JOIN dish d ON d.id = m.dish_id
JOIN category c ON c.id = d.category_id
ORDER BY c.sort, c.id, r.place, i.sort, i.item_id

-- name: version_lines
SELECT e.item_id, d.id, c.id, c.names, d.names, d.image_url, e.price, e.daily_quota, e.is_active, e.sort
FROM menu_version_item e
JOIN menu_item i ON i.id = e.item_id
JOIN dish d ON d.id = i.dish_id
JOIN category c ON c.id = d.category_id
WHERE e.version_id = $1 AND (CAST($2 AS BIGINT) = 0 OR e.item_id = $2)
ORDER BY c.sort, c.id, e.sort, e.item_id

-- name: version_list
SELECT id, menu_id, branch_id, number, status, created_at, published_at
FROM menu_version
WHERE menu_id = $1
ORDER BY number DESC
LIMIT $2 OFFSET $3

-- name: version_publish
UPDATE menu_version SET status = 'PUBLISHED', published_at = $2
WHERE id = $1 AND status = 'DRAFT'

-- name: version_select
SELECT id, menu_id, branch_id, number, status, created_at, published_at
FROM menu_version
WHERE id = $1
