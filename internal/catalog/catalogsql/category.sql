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
