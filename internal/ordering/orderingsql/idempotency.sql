-- name: idempotency_delete
DELETE FROM idempotency WHERE (scope, key) IN (SELECT r.scope, r.key FROM @rows($1: scope text, key text) AS r)

-- name: idempotency_insert
-- The rows come sorted, so that two processes with the same keys wait in line instead of for each other. A key that another
-- transaction is just entering makes this one wait until that has ended.
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
