DELETE FROM role_permission WHERE role_id IN (SELECT role_id FROM @rows($1: role_id int) AS r)
