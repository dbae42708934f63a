SELECT COUNT(*)
FROM app_user u
JOIN role r ON r.id = u.role_id
WHERE r.name = 'OWNER' AND u.status = 'ACTIVE' AND u.id <> $1
