UPDATE payment_attempt
SET state = r.state, gateway_ref = r.ref, redirect_url = r.url, settled_at = r.settled_at, check_at = r.check_at
FROM @rows($1: id text, state text, ref text, url text, settled_at int, check_at int) AS r
WHERE payment_attempt.id = r.id AND payment_attempt.state <> 'PAID'
