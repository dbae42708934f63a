-- name: role_by_name
SELECT CAST(t.name AS TEXT), CAST(t.id AS TEXT) FROM role t JOIN @rows($1: value text) AS w ON t.name = w.value

-- name: role_ids
SELECT id FROM role WHERE id > $1 ORDER BY id LIMIT $2 OFFSET $3

-- name: role_import
-- An existing row takes the imported values and a higher version. A deleted row continues after its tombstone's version.
INSERT INTO role (id, name, description, created_at, updated_at, created_by, updated_by, version)
SELECT r.id, r.name, r.description, r.created_at, r.updated_at, r.created_by, r.updated_by,
       CASE WHEN r.version > r.deleted THEN r.version ELSE r.deleted + 1 END
FROM @rows($1: id int, name text, description text, created_at int, updated_at int, created_by text, updated_by text, version int, deleted int) AS r
WHERE 1 = 1
ON CONFLICT (id) DO UPDATE SET
    name = excluded.name,
    description = excluded.description,
    updated_at = excluded.updated_at,
    created_by = excluded.created_by,
    updated_by = excluded.updated_by,
    version = CASE WHEN excluded.version > role.version THEN excluded.version ELSE role.version + 1 END

-- name: role_select
SELECT r.id, r.name, r.description,
       (SELECT /*pg: coalesce(json_agg(p.permission_id)::text, '[]') *//*sqlite: json_group_array(p.permission_id) */
        FROM (SELECT permission_id FROM role_permission WHERE role_id = r.id ORDER BY permission_id) AS p),
       r.created_at, r.updated_at, r.created_by, r.updated_by, r.version
FROM role r
WHERE r.id /*pg: = ANY ($1) *//*sqlite: IN (SELECT id FROM @rows($1: id int)) */

-- name: role_total
SELECT COUNT(*) FROM role

-- name: grant_clear
DELETE FROM role_permission WHERE role_id IN (SELECT role_id FROM @rows($1: role_id int) AS r)

-- name: grant_import
INSERT INTO role_permission (role_id, permission_id)
SELECT r.role_id, r.permission_id FROM @rows($1: role_id int, permission_id int) AS r
WHERE 1 = 1
ON CONFLICT DO NOTHING

-- name: permission_ids
SELECT id FROM permission WHERE id > $1 ORDER BY id LIMIT $2 OFFSET $3

-- name: permission_import
-- An existing row takes the imported values and a higher version. A deleted row continues after its tombstone's version.
INSERT INTO permission (id, name, api_path, method, module, created_at, updated_at, created_by, updated_by, version)
SELECT r.id, r.name, r.api_path, r.method, r.module, r.created_at, r.updated_at, r.created_by, r.updated_by,
       CASE WHEN r.version > r.deleted THEN r.version ELSE r.deleted + 1 END
FROM @rows($1: id int, name text, api_path text, method text, module text, created_at int, updated_at int, created_by text, updated_by text, version int, deleted int) AS r
WHERE 1 = 1
ON CONFLICT (id) DO UPDATE SET
    name = excluded.name,
    api_path = excluded.api_path,
    method = excluded.method,
    module = excluded.module,
    updated_at = excluded.updated_at,
    created_by = excluded.created_by,
    updated_by = excluded.updated_by,
    version = CASE WHEN excluded.version > permission.version THEN excluded.version ELSE permission.version + 1 END

-- name: permission_select
SELECT p.id, p.name, p.api_path, p.method, p.module, p.created_at, p.updated_at, p.created_by, p.updated_by, p.version
FROM permission p
WHERE p.id /*pg: = ANY ($1) *//*sqlite: IN (SELECT id FROM @rows($1: id int)) */

-- name: permission_total
SELECT COUNT(*) FROM permission

-- name: permission_conflict
SELECT CAST(r.id AS TEXT), CAST(t.id AS TEXT)
FROM @rows($1: id int, api_path text, method text) AS r
JOIN permission t ON t.api_path = r.api_path AND t.method = r.method
