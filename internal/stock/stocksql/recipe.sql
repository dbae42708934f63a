-- name: recipe_branch
SELECT m.branch_id FROM menu_item m WHERE m.id = $1

-- name: recipe_delete
DELETE FROM recipe_line WHERE menu_item_id = $1

-- name: recipe_insert
INSERT INTO recipe_line (menu_item_id, item_id, qty)
SELECT CAST($2 AS BIGINT), r.item, r.qty FROM @rows($1: item int, qty int) AS r

-- name: recipe_lines
SELECT s.sku, l.qty
FROM recipe_line l
JOIN stock_item s ON s.id = l.item_id
WHERE l.menu_item_id = $1
ORDER BY s.sku

-- name: recipe_lock
-- Locks the menu item, which serializes changes of its recipe.
SELECT m.branch_id FROM menu_item m WHERE m.id = $1
/*pg: FOR NO KEY UPDATE*/

-- name: recipe_select
SELECT l.menu_item_id, l.item_id, l.qty
FROM recipe_line l JOIN menu_item m ON m.id = l.menu_item_id
WHERE m.branch_id = $1
ORDER BY l.menu_item_id, l.item_id
