SELECT i.scope, i.key, i.digest, i.ref
FROM idempotency i
JOIN @rows($1: scope text, key text) AS r ON i.scope = r.scope AND i.key = r.key
