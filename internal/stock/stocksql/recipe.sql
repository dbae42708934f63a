-- name: option_recipe_delete
-- An option has a recipe in each branch: the one of the stock items' branch is deleted.
DELETE FROM choice_recipe
WHERE choice_id = $2 AND item_id IN (SELECT s.id FROM stock_item s WHERE s.branch_id = $1)

-- name: option_recipe_insert
INSERT INTO choice_recipe (choice_id, item_id, qty)
SELECT CAST($2 AS BIGINT), r.item, r.qty FROM @rows($1: item int, qty int) AS r

-- name: option_recipe_lines
SELECT s.sku, l.qty
FROM choice_recipe l
JOIN stock_item s ON s.id = l.item_id
WHERE s.branch_id = $1 AND l.choice_id = $2
ORDER BY s.sku

-- name: option_recipe_lock
SELECT c.id FROM option_choice c WHERE c.id = $1
/*pg: FOR NO KEY UPDATE*/

-- name: option_recipe_place
-- Counts the branch and the option, so that either one that is missing is found.
SELECT (SELECT COUNT(*) FROM branch b WHERE b.id = $1),
       (SELECT COUNT(*) FROM option_choice c WHERE c.id = $2 AND c.retired_at IS NULL)

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
-- Recipes of options have the negative number of the option.
SELECT l.menu_item_id, l.item_id, l.qty
FROM recipe_line l JOIN menu_item m ON m.id = l.menu_item_id
WHERE m.branch_id = $1
UNION ALL
SELECT -l.choice_id, l.item_id, l.qty
FROM choice_recipe l
JOIN stock_item s ON s.id = l.item_id
WHERE s.branch_id = $1
ORDER BY 1, 2
