INSERT INTO payment_attempt (id, order_id, method, amount, currency, state, gateway_ref, created_at, settled_at)
SELECT r.id, r.order_id, r.method, r.amount, r.currency, r.state, r.ref, r.created_at, r.settled_at
FROM @rows($1: id text, order_id text, method text, amount int, currency text, state text, ref text, created_at int, settled_at int) AS r
