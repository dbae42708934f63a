SELECT h.permission_id
FROM role_permission h
JOIN role r ON r.id = h.role_id
WHERE r.name = $1
ORDER BY h.permission_id
