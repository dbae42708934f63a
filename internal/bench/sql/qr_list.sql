SELECT q.token
FROM table_qr q
JOIN dining_table t ON t.id = q.table_id
WHERE t.branch_id = $1 AND q.status = 'ACTIVE'
ORDER BY t.id
