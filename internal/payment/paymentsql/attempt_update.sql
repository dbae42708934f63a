UPDATE payment_attempt
SET state = r.state, gateway_ref = r.ref, settled_at = r.settled_at
FROM @rows($1: id text, state text, ref text, settled_at int) AS r
WHERE payment_attempt.id = r.id AND payment_attempt.state <> 'PAID'
