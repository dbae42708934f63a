SELECT role_id, permission_id FROM role_permission ORDER BY role_id, permission_id
