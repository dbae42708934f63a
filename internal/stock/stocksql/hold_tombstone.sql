-- An order transaction that comes late with the same id now fails on the primary key (I12).
INSERT INTO hold (id, branch_id, biz_date, state, reason, digest, expires_at, created_at, updated_at)
SELECT r.id, r.branch_id, r.biz_date, 'RELEASED', 'LEASE_ENDED', '', CAST($2 AS BIGINT), CAST($2 AS BIGINT), CAST($2 AS BIGINT)
FROM @rows($1: id text, branch_id int, biz_date text) AS r
WHERE true
ORDER BY r.id
ON CONFLICT DO NOTHING
