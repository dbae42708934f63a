DELETE FROM idempotency WHERE (scope, key) IN (SELECT r.scope, r.key FROM @rows($1: scope text, key text) AS r)
