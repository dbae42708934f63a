SELECT permission_id FROM role_permission WHERE role_id = $1 ORDER BY permission_id
