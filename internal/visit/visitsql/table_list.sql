SELECT t.id, t.branch_id, t.label, t.seats, COALESCE(q.token, '')
FROM dining_table t
LEFT JOIN table_qr q ON q.table_id = t.id AND q.status = 'ACTIVE'
WHERE $1 = 0 OR t.branch_id = $1
ORDER BY t.branch_id, t.label, t.id
