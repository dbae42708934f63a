-- fragment: branch_columns
id, name, currency, timezone, biz_day_start_hour, locales, auto_close_minutes, is_open, revision,
paused_at, paused_until, pause_code, pause_texts, paused_by

-- name: branch_list
SELECT @branch_columns
FROM branch
ORDER BY id

-- name: branch_lock
SELECT id FROM branch WHERE id = $1
/*pg: FOR NO KEY UPDATE */

-- name: branch_lock_category
SELECT b.id
FROM branch b
WHERE b.id IN (SELECT i.branch_id FROM menu_item i JOIN dish d ON d.id = i.dish_id WHERE d.category_id = $1)
ORDER BY b.id
/*pg: FOR NO KEY UPDATE OF b */

-- name: branch_lock_dish
-- The branches that have a dish on a menu, by id. Changes to a dish or a category lock them first.
SELECT b.id
FROM branch b
WHERE b.id IN (SELECT i.branch_id FROM menu_item i WHERE i.dish_id = $1)
ORDER BY b.id
/*pg: FOR NO KEY UPDATE OF b */

-- name: branch_lock_item
-- Changes to a branch's menus hold the lock of its row.
SELECT b.id
FROM branch b
JOIN menu_item i ON i.branch_id = b.id
WHERE i.id = $1
/*pg: FOR NO KEY UPDATE OF b */

-- name: branch_lock_menu
SELECT b.id
FROM branch b
JOIN menu m ON m.branch_id = b.id
WHERE m.id = $1
/*pg: FOR NO KEY UPDATE OF b */

-- name: branch_lock_version
SELECT b.id
FROM branch b
JOIN menu_version v ON v.branch_id = b.id
WHERE v.id = $1
/*pg: FOR NO KEY UPDATE OF b */

-- name: branch_select
SELECT @branch_columns
FROM branch
WHERE id = $1

-- name: branch_touch
UPDATE branch SET revision = revision + 1 WHERE id = $1

-- name: branch_update
UPDATE branch
SET name = $2, biz_day_start_hour = $3, locales = $4, auto_close_minutes = $5, is_open = $6, revision = revision + 1,
    paused_at = $7, paused_until = $8, pause_code = $9, pause_texts = $10, paused_by = $11
WHERE id = $1
