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
