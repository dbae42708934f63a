INSERT INTO payment_attempt (id, order_id, method, amount, currency, state, gateway_ref, created_at, settled_at)
SELECT r.id, r.order_id, 'COUNTER', 90000, 'VND', 'CREATED', '', CAST($2 AS BIGINT), NULL
FROM @rows($1: id text, order_id text) AS r
