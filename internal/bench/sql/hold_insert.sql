INSERT INTO hold (id, branch_id, biz_date, state, reason, digest, expires_at, created_at, updated_at)
SELECT r.id, 9000, CAST($2 AS TEXT), 'HELD', NULL, r.digest, CAST($4 AS BIGINT), CAST($3 AS BIGINT), CAST($3 AS BIGINT)
FROM @rows($1: id text, digest text) AS r
