SELECT g.visit_id, v.branch_id, v.table_id, v.status, v.closed_at, v.close_reason
FROM visit_guest g
JOIN visit v ON v.id = g.visit_id
WHERE g.token_hash = $1
