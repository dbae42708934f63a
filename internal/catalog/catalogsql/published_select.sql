SELECT b.revision, v.id, v.menu_id
FROM branch b
JOIN menu_version v ON v.branch_id = b.id AND v.status = 'PUBLISHED'
WHERE b.id = $1
