SELECT id, branch_id, biz_date, ops, created_at, attempts
FROM redis_outbox
WHERE created_at <= $1 AND due_at <= $1 AND dead_at IS NULL AND id > $2
ORDER BY id
LIMIT $3
