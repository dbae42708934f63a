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
-- Changes only dishes that differ, so that equal results of several processes write once. PostgreSQL locks them by id, as
-- dish_touch does. SQLite, which has one writer, would read the rows again for each dish of the list.
UPDATE dish
SET sale_branches = r.branches, sale_stock = r.stock, sale_sold = r.sold, sale_open = r.open, version = dish.version + 1
FROM @rows($1: id int, branches text, stock int, sold int, open int) AS r
WHERE dish.id = r.id AND dish.sale_branches <> r.branches
/*pg: AND dish.id IN (
    SELECT d.id
    FROM dish d
    JOIN @rows($1: id int, branches text, stock int, sold int, open int) AS w ON w.id = d.id AND w.branches <> d.sale_branches
    ORDER BY d.id
    FOR NO KEY UPDATE OF d
)*/
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

-- fragment: category_columns
c.id, c.sort, c.names, c.descriptions, (SELECT COUNT(*) FROM dish d WHERE d.category_id = c.id), c.updated_at

-- name: category_count
SELECT COUNT(*) FROM category

-- name: category_delete
-- The foreign key of dish refuses to delete a category that has dishes.
DELETE FROM category WHERE id = $1
RETURNING version

-- name: category_insert
INSERT INTO category (sort, names, descriptions, created_at, updated_at, created_by, updated_by)
VALUES (COALESCE(CAST($1 AS BIGINT), (SELECT COALESCE(MAX(c.sort), 0) + 1 FROM category c)), $2, $3, $4, $4, $5, $5)
RETURNING id

-- name: category_list
SELECT @category_columns
FROM category c
ORDER BY c.sort, c.id
LIMIT $1 OFFSET $2

-- name: category_lock
SELECT @category_columns
FROM category c
WHERE c.id = $1
/*pg: FOR UPDATE OF c */

-- name: category_update
UPDATE category
SET sort = $2, names = $3, descriptions = $4, updated_at = $5, updated_by = $6, version = version + 1
WHERE id = $1

-- name: image_count
SELECT COUNT(DISTINCT hash) FROM image

-- name: image_insert
-- A repeated upload renews the image's age.
INSERT INTO image (hash, width, bytes, created_at) VALUES ($1, $2, $3, $4)
ON CONFLICT (hash, width) DO UPDATE SET created_at = excluded.created_at

-- name: image_purge
-- Deletes images that neither a dish nor the restaurant's brand uses. There are few dishes, so their URLs are read once.
DELETE FROM image
WHERE created_at < $1
  AND hash NOT IN (SELECT substr(d.image_url, 8, 32) FROM dish d WHERE d.image_url LIKE '/media/%-960.jpg')
  AND NOT EXISTS (SELECT 1 FROM house_setting b WHERE b.name = 'brand' AND b.value LIKE '%' || image.hash || '%')

-- name: image_select
SELECT bytes FROM image WHERE hash = $1 AND width = $2

-- name: image_touch
-- Renews the age of an image when a dish starts to use it, so that a concurrent purge keeps it.
UPDATE image SET created_at = $2 WHERE hash = $1
