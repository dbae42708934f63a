-- The rows come sorted, so that two processes with the same keys wait in line instead of for each other. A key that another
-- transaction is just entering makes this one wait until that has ended.
INSERT INTO idempotency (scope, key, digest, status, ref, created_at)
SELECT r.scope, r.key, r.digest, 201, r.ref, CAST($2 AS BIGINT)
FROM @rows($1: scope text, key text, digest text, ref text) AS r
WHERE true
ON CONFLICT (scope, key) DO NOTHING
RETURNING scope, key
