-- name: principal_select
-- Returns no row if the account does not exist or is not active, and branch 0 if it belongs to no branch.
SELECT u.role_id, COALESCE(b.branch_id, 0)
FROM app_user u
LEFT JOIN user_branch b ON b.user_id = u.id
WHERE u.id = $1 AND u.status = 'ACTIVE'
ORDER BY b.branch_id

-- name: revocation_insert
INSERT INTO auth_revocation (id, kind, subject, created_at)
SELECT r.id, r.kind, r.subject, r.at FROM @rows($1: id text, kind text, subject text, at int) AS r
WHERE TRUE
ON CONFLICT (id) DO NOTHING

-- name: role_delete
DELETE FROM role WHERE id = $1

-- name: role_ensure
-- Creates the missing roles and returns only those: when two processes start together, one of them creates a role.
INSERT INTO role (name, description, created_at, updated_at)
SELECT r.name, r.description, $2, $2
FROM @rows($1: name text, description text) AS r
WHERE true
ON CONFLICT (name) DO NOTHING
RETURNING id

-- name: role_insert
INSERT INTO role (name, description, created_at, updated_at, created_by, updated_by)
VALUES ($1, $2, $3, $3, $4, $4)
RETURNING id

-- name: role_list
SELECT id, name, description, created_at, updated_at, version FROM role ORDER BY id

-- name: role_lock
-- Serializes changes of roles, of permissions and of the roles of accounts. Accounts are locked after it.
SELECT id FROM role WHERE name = 'OWNER' /*pg: FOR NO KEY UPDATE */

-- name: role_permissions_by_name
SELECT h.permission_id
FROM role_permission h
JOIN role r ON r.id = h.role_id
WHERE r.name = $1
ORDER BY h.permission_id

-- name: role_select
SELECT id, name, description, created_at, updated_at, version FROM role WHERE id = $1

-- name: role_touch
UPDATE role SET updated_at = $2, updated_by = $3, version = version + 1
WHERE id IN (SELECT r.id FROM @rows($1: id int) AS r)

-- name: role_update
UPDATE role SET name = $2, description = $3, updated_at = $4, updated_by = $5, version = version + 1 WHERE id = $1

-- name: role_used
SELECT COUNT(*) FROM (SELECT 1 FROM app_user WHERE role_id = $1 LIMIT 1) u

-- name: role_versions
SELECT id, version FROM role
