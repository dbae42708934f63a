DELETE FROM role_permission WHERE permission_id IN (SELECT r.id FROM @rows($1: id int) AS r)
