-- name: permission_delete
DELETE FROM permission WHERE id IN (SELECT r.id FROM @rows($1: id int) AS r)

-- name: permission_grant
INSERT INTO role_permission (role_id, permission_id)
SELECT r.role, r.permission
FROM @rows($1: role int, permission int) AS r
WHERE true
ON CONFLICT DO NOTHING

-- name: permission_held
SELECT permission_id FROM role_permission WHERE role_id = $1 ORDER BY permission_id

-- name: permission_of_role
SELECT p.id, p.name, p.api_path, p.method, p.module, p.created_at, p.updated_at, p.version
FROM permission p
JOIN role_permission h ON h.permission_id = p.id
WHERE h.role_id = $1
ORDER BY p.id

-- name: permission_holders
SELECT role_id, permission_id FROM role_permission ORDER BY role_id, permission_id

-- name: permission_insert
INSERT INTO permission (name, api_path, method, module, created_at, updated_at)
SELECT r.name, r.path, r.method, r.module, $2, $2
FROM @rows($1: name text, path text, method text, module text) AS r

-- name: permission_list
SELECT id, name, api_path, method, module, created_at, updated_at, version
FROM permission
ORDER BY module, api_path, method

-- name: permission_revoke
DELETE FROM role_permission WHERE permission_id IN (SELECT r.id FROM @rows($1: id int) AS r)
RETURNING role_id

-- name: permission_routes
SELECT h.role_id, p.method, p.api_path
FROM role_permission h
JOIN permission p ON p.id = h.permission_id

-- name: permission_withdraw
DELETE FROM role_permission
WHERE role_id = $1 AND permission_id IN (SELECT r.id FROM @rows($2: id int) AS r)

-- name: permission_update
UPDATE permission SET name = r.name, module = r.module, updated_at = $2, version = permission.version + 1
FROM @rows($1: id int, name text, module text) AS r
WHERE permission.id = r.id
