INSERT INTO role_permission (role_id, permission_id)
SELECT r.role, r.permission
FROM @rows($1: role int, permission int) AS r
WHERE true
ON CONFLICT DO NOTHING
