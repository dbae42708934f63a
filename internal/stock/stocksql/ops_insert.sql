INSERT INTO redis_outbox (id, branch_id, biz_date, ops, created_at)
SELECT r.id, r.branch_id, r.biz_date, r.ops, CAST($2 AS BIGINT)
FROM @rows($1: id text, branch_id int, biz_date text, ops text) AS r
