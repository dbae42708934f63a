INSERT INTO idempotency (scope, key, digest, status, ref, created_at)
SELECT 'order:9000', r.key, r.digest, 201, r.id, CAST($2 AS BIGINT)
FROM @rows($1: id text, key text, digest text) AS r
