SELECT id, branch_id, biz_date, ops, created_at FROM redis_outbox WHERE created_at <= $1 ORDER BY id LIMIT $2
