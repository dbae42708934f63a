-- name: idempotency_delete
DELETE FROM idempotency WHERE (scope, key) IN (SELECT r.scope, r.key FROM @rows($1: scope text, key text) AS r)

-- name: idempotency_insert
-- Inserts the unused keys and returns them. The rows are sorted, so that two transactions with the same keys wait for
-- each other in one order and cannot deadlock. If another transaction has inserted a key and not yet ended, this
-- statement waits for its end. Without WHERE true, SQLite would parse ON CONFLICT as a join condition.
INSERT INTO idempotency (scope, key, digest, status, ref, created_at)
SELECT r.scope, r.key, r.digest, 201, r.ref, CAST($2 AS BIGINT)
FROM @rows($1: scope text, key text, digest text, ref text) AS r
WHERE true
ON CONFLICT (scope, key) DO NOTHING
RETURNING scope, key

-- name: idempotency_select
SELECT i.scope, i.key, i.digest, i.ref
FROM idempotency i
JOIN @rows($1: scope text, key text) AS r ON i.scope = r.scope AND i.key = r.key
