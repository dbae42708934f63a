UPDATE payment_attempt
SET check_at = r.check_at, checks = checks + 1
FROM @rows($1: id text, check_at int) AS r
WHERE payment_attempt.id = r.id
