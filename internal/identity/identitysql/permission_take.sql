DELETE FROM role_permission
WHERE role_id = $1 AND permission_id IN (SELECT r.id FROM @rows($2: id int) AS r)
