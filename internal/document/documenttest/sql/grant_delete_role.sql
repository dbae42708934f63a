DELETE FROM role_permission WHERE role_id = $1
