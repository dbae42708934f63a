INSERT INTO redis_outbox (id, branch_id, biz_date, ops, created_at) VALUES ($1, 9000, $2, $3, $4)
