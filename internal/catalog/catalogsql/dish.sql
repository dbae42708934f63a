-- fragment: dish_columns
d.id, d.category_id, d.names, d.descriptions, d.image_url, d.tax_class, d.allergens, d.diets, d.retired_at, d.updated_at,
CASE WHEN EXISTS (
 SELECT 1
 FROM menu_item i
 JOIN menu_version_item e ON e.item_id = i.id
 JOIN menu_version v ON v.id = e.version_id AND v.status = 'PUBLISHED'
 WHERE i.dish_id = d.id) THEN 1 ELSE 0 END

-- name: dish_count
SELECT COUNT(*) FROM dish

-- name: dish_insert
INSERT INTO dish (category_id, names, descriptions, image_url, created_at, updated_at, created_by, updated_by, tax_class, allergens,
                  diets)
VALUES ($1, $2, $3, $4, $5, $5, $6, $6, $7, $8, $9)
RETURNING id

-- name: dish_list
-- Category 0 selects all; $2 = 1 includes retired dishes.
SELECT @dish_columns
FROM dish d
JOIN category c ON c.id = d.category_id
WHERE (CAST($1 AS BIGINT) = 0 OR d.category_id = $1) AND (CAST($2 AS BIGINT) = 1 OR d.retired_at IS NULL)
ORDER BY c.sort, c.id, d.id
LIMIT $3

-- name: dish_lock
SELECT @dish_columns
FROM dish d
WHERE d.id = $1
/*pg: FOR UPDATE OF d */

-- name: dish_retire
UPDATE dish SET retired_at = $2, updated_at = $2, updated_by = $3, version = version + 1 WHERE id = $1

-- name: dish_retired
SELECT COALESCE(retired_at, 0) FROM dish WHERE id = $1

-- name: dish_sale_ids
SELECT id FROM dish WHERE sale_branches <> '{}' ORDER BY id

-- name: dish_sale_save
-- Changes only dishes that differ, so that equal results of several processes write once. It locks them by id, like
-- dish_touch.
UPDATE dish
SET sale_branches = r.branches, sale_stock = r.stock, sale_sold = r.sold, sale_open = r.open, version = dish.version + 1
FROM @rows($1: id int, branches text, stock int, sold int, open int) AS r
WHERE dish.id = r.id AND dish.id IN (
    SELECT d.id
    FROM dish d
    JOIN @rows($1: id int, branches text, stock int, sold int, open int) AS w ON w.id = d.id AND w.branches <> d.sale_branches
    ORDER BY d.id /*pg: FOR NO KEY UPDATE OF d */
)
RETURNING dish.id

-- name: dish_touch
-- Raises the versions of a branch's dishes, whose prices follow its published menu. It locks them by id, because another
-- branch may publish the same dishes at the same time.
UPDATE dish SET version = version + 1, updated_at = $2
WHERE id IN (
    SELECT id FROM dish WHERE id IN (SELECT dish_id FROM menu_item WHERE branch_id = $1)
    ORDER BY id /*pg: FOR NO KEY UPDATE */
)
RETURNING id

-- name: dish_update
UPDATE dish
SET category_id = $2, names = $3, descriptions = $4, image_url = $5, updated_at = $6, updated_by = $7, tax_class = $8,
    allergens = $9, diets = $10, version = version + 1
WHERE id = $1

-- name: dish_used
-- Counts the published and draft versions that contain the dish, themselves or as an active part of a combo.
SELECT (SELECT COUNT(*)
        FROM menu_item i
        JOIN menu_version_item e ON e.item_id = i.id
        JOIN menu_version v ON v.id = e.version_id
        WHERE i.dish_id = $1 AND v.status <> 'CLOSED')
     + (SELECT COUNT(*)
        FROM option_choice c
        JOIN menu_version_choice e ON e.choice_id = c.id AND e.is_active = 1
        JOIN menu_version v ON v.id = e.version_id
        WHERE c.dish_id = $1 AND v.status <> 'CLOSED')
