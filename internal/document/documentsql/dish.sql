-- fragment: dish_on_menu
CASE WHEN EXISTS (
    SELECT 1
    FROM menu_item i
    JOIN menu_version v ON v.branch_id = i.branch_id AND v.menu_id = i.menu_id AND v.status = 'PUBLISHED'
    JOIN menu_version_item e ON e.version_id = v.id AND e.item_id = i.id
    WHERE i.dish_id = d.id AND e.is_active = 1) THEN 1 ELSE 0 END

-- fragment: dish_found
FROM dish d
WHERE (CAST($1 AS BIGINT) IS NULL OR d.category_id = $1)
  AND (CAST($2 AS BIGINT) IS NULL OR @dish_on_menu = $2)

-- name: dish_find
SELECT d.id
@dish_found
ORDER BY d.id LIMIT $3 OFFSET $4

-- name: dish_find_count
SELECT COUNT(*)
@dish_found

-- name: dish_ids
SELECT id FROM dish WHERE id > $1 ORDER BY id LIMIT $2 OFFSET $3

-- name: dish_import
-- An existing row takes the imported values and a higher version. A deleted row continues after its tombstone's version.
INSERT INTO dish (id, image_url, category_id, names, descriptions, created_at, updated_at, created_by, updated_by,
    version)
SELECT r.id, r.image_url, r.category_id, r.names, r.descriptions, r.created_at, r.updated_at, r.created_by,
       r.updated_by, CASE WHEN r.version > r.deleted THEN r.version ELSE r.deleted + 1 END
FROM @rows($1: id int, image_url text, category_id int, names text, descriptions text, created_at int, updated_at int, created_by text, updated_by text, version int, deleted int) AS r
WHERE 1 = 1
ON CONFLICT (id) DO UPDATE SET
    image_url = excluded.image_url,
    category_id = excluded.category_id,
    names = excluded.names,
    descriptions = excluded.descriptions,
    updated_at = excluded.updated_at,
    created_by = excluded.created_by,
    updated_by = excluded.updated_by,
    version = CASE WHEN excluded.version > dish.version THEN excluded.version ELSE dish.version + 1 END

-- name: dish_select
-- The price is that of the first branch with the dish on its published menu.
SELECT d.id, d.names, d.descriptions,
       (SELECT e.price
        FROM menu_item i
        JOIN menu_version v ON v.branch_id = i.branch_id AND v.menu_id = i.menu_id AND v.status = 'PUBLISHED'
        JOIN menu_version_item e ON e.version_id = v.id AND e.item_id = i.id
        WHERE i.dish_id = d.id ORDER BY i.branch_id, i.id LIMIT 1),
       (SELECT b.currency
        FROM menu_item i
        JOIN menu_version v ON v.branch_id = i.branch_id AND v.menu_id = i.menu_id AND v.status = 'PUBLISHED'
        JOIN menu_version_item e ON e.version_id = v.id AND e.item_id = i.id
        JOIN branch b ON b.id = i.branch_id
        WHERE i.dish_id = d.id ORDER BY i.branch_id, i.id LIMIT 1),
       d.image_url, d.category_id, d.sale_stock, d.sale_sold,
       CASE WHEN d.sale_open = 1 THEN @dish_on_menu ELSE 0 END, @dish_on_menu, d.sale_branches,
       d.names, d.descriptions, d.created_at, d.updated_at, d.created_by, d.updated_by, d.version
FROM dish d
WHERE d.id /*pg: = ANY ($1) *//*sqlite: IN (SELECT id FROM @rows($1: id int)) */

-- name: dish_sizes_category
-- The alias makes PostgreSQL sort by the column instead of by the text.
SELECT CAST(t.category_id AS TEXT), COUNT(*) FROM dish t WHERE t.category_id > $1 GROUP BY t.category_id ORDER BY t.category_id LIMIT $2

-- name: dish_sizes_onMenu
SELECT 'yes', COUNT(*) FROM dish d WHERE @dish_on_menu = 1 AND CAST($1 AS TEXT) < 'yes' HAVING COUNT(*) > 0 LIMIT $2

-- name: dish_total
SELECT COUNT(*) FROM dish

-- name: category_ids
SELECT id FROM category WHERE id > $1 ORDER BY id LIMIT $2 OFFSET $3

-- name: category_import
-- An existing row takes the imported values and a higher version. A deleted row continues after its tombstone's version.
INSERT INTO category (id, sort, names, descriptions, created_at, updated_at, created_by, updated_by, version)
SELECT r.id, r.sort, r.names, r.descriptions, r.created_at, r.updated_at, r.created_by, r.updated_by,
       CASE WHEN r.version > r.deleted THEN r.version ELSE r.deleted + 1 END
FROM @rows($1: id int, sort int, names text, descriptions text, created_at int, updated_at int, created_by text, updated_by text, version int, deleted int) AS r
WHERE 1 = 1
ON CONFLICT (id) DO UPDATE SET
    sort = excluded.sort,
    names = excluded.names,
    descriptions = excluded.descriptions,
    updated_at = excluded.updated_at,
    created_by = excluded.created_by,
    updated_by = excluded.updated_by,
    version = CASE WHEN excluded.version > category.version THEN excluded.version ELSE category.version + 1 END

-- name: category_select
SELECT c.id, c.names, c.descriptions, c.sort, c.names, c.descriptions, c.created_at, c.updated_at, c.created_by, c.updated_by, c.version
FROM category c
WHERE c.id /*pg: = ANY ($1) *//*sqlite: IN (SELECT id FROM @rows($1: id int)) */

-- name: category_total
SELECT COUNT(*) FROM category
