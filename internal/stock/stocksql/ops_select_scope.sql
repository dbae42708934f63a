SELECT id, branch_id, biz_date, ops, created_at, attempts
FROM redis_outbox
WHERE branch_id = $1 AND biz_date = $2
ORDER BY id
LIMIT $3
