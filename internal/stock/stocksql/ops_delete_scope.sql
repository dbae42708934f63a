DELETE FROM redis_outbox WHERE branch_id = $1 AND biz_date = $2
