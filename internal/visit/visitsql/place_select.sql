SELECT t.id, t.branch_id, t.label, q.status, t.active
FROM table_qr q
JOIN dining_table t ON t.id = q.table_id
WHERE q.token = $1
