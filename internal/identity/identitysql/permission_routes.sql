SELECT h.role_id, p.method, p.api_path
FROM role_permission h
JOIN permission p ON p.id = h.permission_id
