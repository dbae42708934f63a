INSERT INTO menu_version (menu_id, branch_id, number, status, created_at)
SELECT m.id, m.branch_id, COALESCE((SELECT MAX(v.number) FROM menu_version v WHERE v.menu_id = m.id), 0) + 1,
       'DRAFT', $2
FROM menu m
WHERE m.id = $1
RETURNING id
