-- name: sold_classes
-- Returns the active items of version $2, or of the branch's published version if $2 is 0, with their tax classes, with
-- those of their active options that have a class of their own, and the dishes of their combos. A dish of a combo is sold
-- even if it is not offered alone, so it needs a class as well.
WITH sold AS (
    SELECT v.id AS version_id, d.id, d.names, d.tax_class, e.item_id
    FROM menu_version v
    JOIN menu_version_item e ON e.version_id = v.id AND e.is_active = 1
    JOIN menu_item i ON i.id = e.item_id
    JOIN dish d ON d.id = i.dish_id
    WHERE v.branch_id = $1 AND (v.id = $2 OR CAST($2 AS BIGINT) = 0 AND v.status = 'PUBLISHED')
)
SELECT s.id, s.names, s.tax_class
FROM sold s
UNION
SELECT s.id, s.names, o.tax_class
FROM sold s
JOIN menu_version_choice c ON c.version_id = s.version_id AND c.item_id = s.item_id AND c.is_active = 1
JOIN option_choice o ON o.id = c.choice_id AND o.tax_class <> ''
UNION
SELECT d.id, d.names, d.tax_class
FROM sold s
JOIN menu_version_choice c ON c.version_id = s.version_id AND c.item_id = s.item_id AND c.is_active = 1
JOIN option_choice o ON o.id = c.choice_id AND o.tax_class = ''
JOIN menu_version_item e ON e.version_id = c.version_id AND e.item_id = c.component_item_id
JOIN menu_item i ON i.id = e.item_id
JOIN dish d ON d.id = i.dish_id
ORDER BY 1, 3

-- name: tax_class_branches
-- Returns the branches that have one of these dishes on a menu, and locks them by id like all changes of menus.
SELECT b.id
FROM branch b
WHERE b.id IN (SELECT i.branch_id FROM menu_item i JOIN @rows($1: id int) AS r ON i.dish_id = r.id)
ORDER BY b.id
/*pg: FOR NO KEY UPDATE OF b */

-- name: tax_class_delete
DELETE FROM tax_class
WHERE code = $1 AND NOT EXISTS (SELECT 1 FROM dish d WHERE d.tax_class = $1)
  AND NOT EXISTS (SELECT 1 FROM option_choice o WHERE o.tax_class = $1)

-- name: tax_class_list
SELECT c.code, c.names, c.sort, (SELECT COUNT(*) FROM dish d WHERE d.tax_class = c.code AND d.retired_at IS NULL)
FROM tax_class c
ORDER BY c.sort, c.code

-- name: tax_class_put
INSERT INTO tax_class (code, names, sort)
VALUES ($1, $2, COALESCE((SELECT MAX(c.sort) FROM tax_class c), 0) + 1)
ON CONFLICT (code) DO UPDATE SET names = excluded.names

-- name: tax_class_set
-- Sets the tax class of dishes. It locks them by id, because others may change the same dishes.
UPDATE dish SET tax_class = $2, version = version + 1, updated_at = $3, updated_by = $4
WHERE id IN (
    SELECT d.id FROM dish d JOIN @rows($1: id int) AS r ON d.id = r.id
    WHERE d.retired_at IS NULL
    ORDER BY d.id /*pg: FOR NO KEY UPDATE OF d */
)
RETURNING id
