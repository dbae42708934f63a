-- name: branch_lock_all
-- A file may change dishes and categories of all branches. An import therefore locks all branches, by id as everywhere.
SELECT b.id
FROM branch b
ORDER BY b.id
/*pg: FOR NO KEY UPDATE */

-- name: category_all
SELECT @category_columns
FROM category c
ORDER BY c.sort, c.id

-- name: category_branches
-- Returns the branches that have dishes of a category on a menu.
SELECT DISTINCT d.category_id, i.branch_id
FROM menu_item i
JOIN dish d ON d.id = i.dish_id
ORDER BY d.category_id, i.branch_id

-- name: dish_branches
-- Returns the other branches that have a dish of branch $1 on a menu.
SELECT DISTINCT i.dish_id, i.branch_id
FROM menu_item i
WHERE i.branch_id <> $1 AND i.dish_id IN (SELECT o.dish_id FROM menu_item o WHERE o.branch_id = $1)
ORDER BY i.dish_id, i.branch_id

-- name: image_ids
SELECT DISTINCT hash FROM image ORDER BY hash

-- name: import_menu
-- Returns menu $2 of branch $1 with its newest draft and its published version. For 0 it is the oldest menu with a
-- published version, or the oldest menu if there is none.
SELECT m.id,
       COALESCE((SELECT MAX(v.id) FROM menu_version v WHERE v.menu_id = m.id AND v.status = 'DRAFT'), 0),
       COALESCE((SELECT v.id FROM menu_version v WHERE v.menu_id = m.id AND v.status = 'PUBLISHED'), 0)
FROM menu m
WHERE m.branch_id = $1 AND (CAST($2 AS BIGINT) = 0 OR m.id = $2)
ORDER BY CASE WHEN EXISTS (SELECT 1 FROM menu_version v WHERE v.menu_id = m.id AND v.status = 'PUBLISHED') THEN 0 ELSE 1 END,
         m.id
LIMIT 1

-- name: import_items
-- A published version has the items' current quotas, as in version_copy.
SELECT i.id, d.id, d.category_id, COALESCE(i.import_key, ''), d.names, d.descriptions, d.image_url, d.tax_class,
       d.allergens, d.diets,
       CASE WHEN e.item_id IS NULL THEN 0 ELSE 1 END, COALESCE(e.price, 0),
       CASE WHEN v.status = 'PUBLISHED' THEN i.daily_quota ELSE e.daily_quota END, COALESCE(e.is_active, 0)
FROM menu_item i
JOIN dish d ON d.id = i.dish_id
JOIN category c ON c.id = d.category_id
LEFT JOIN menu_version_item e ON e.item_id = i.id AND e.version_id = $2
LEFT JOIN menu_version v ON v.id = e.version_id
WHERE i.menu_id = $1 AND d.retired_at IS NULL
ORDER BY c.sort, c.id, COALESCE(e.sort, 1000001), i.id

-- name: import_others
-- Returns the dishes of other menus of branch $1 that menu $2 lacks.
SELECT @dish_columns
FROM dish d
WHERE d.retired_at IS NULL
  AND EXISTS (SELECT 1 FROM menu_item o WHERE o.dish_id = d.id AND o.branch_id = $1 AND o.menu_id <> $2)
  AND NOT EXISTS (SELECT 1 FROM menu_item o WHERE o.dish_id = d.id AND o.menu_id = $2)
ORDER BY d.id

-- name: item_key_free
-- Removes the key from any other item of the menu. Its dish may be retired, and import_items does not return those.
UPDATE menu_item SET import_key = NULL
WHERE import_key = $2 AND id <> $1 AND menu_id = (SELECT o.menu_id FROM menu_item o WHERE o.id = $1)

-- name: item_key_set
UPDATE menu_item SET import_key = $2 WHERE id = $1
