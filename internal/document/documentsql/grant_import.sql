INSERT INTO role_permission (role_id, permission_id)
SELECT r.role_id, r.permission_id FROM @rows($1: role_id int, permission_id int) AS r
WHERE 1 = 1
ON CONFLICT DO NOTHING
