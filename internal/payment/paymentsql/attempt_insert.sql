INSERT INTO payment_attempt (id, order_id, method, amount, currency, state, gateway_ref, redirect_url, created_at, settled_at, check_at)
SELECT r.id, r.order_id, r.method, r.amount, r.currency, r.state, r.ref, r.url, r.created_at, r.settled_at, r.check_at
FROM @rows($1: id text, order_id text, method text, amount int, currency text, state text, ref text, url text, created_at int, settled_at int, check_at int) AS r
