-- 0 chooses all branches.
SELECT m.id, m.branch_id, m.name,
       COALESCE((SELECT v.id FROM menu_version v WHERE v.menu_id = m.id AND v.status = 'PUBLISHED'), 0),
       (SELECT COUNT(*) FROM menu_version v WHERE v.menu_id = m.id AND v.status = 'DRAFT')
FROM menu m
WHERE CAST($1 AS BIGINT) = 0 OR m.branch_id = $1
ORDER BY m.branch_id, m.id
