INSERT INTO hold (id, branch_id, biz_date, state, reason, digest, expires_at, created_at, updated_at)
SELECT r.id, r.branch_id, r.biz_date, r.state, r.reason, r.digest, r.expires_at, CAST($2 AS BIGINT), CAST($2 AS BIGINT)
FROM @rows($1: id text, branch_id int, biz_date text, state text, reason text, digest text, expires_at int) AS r
