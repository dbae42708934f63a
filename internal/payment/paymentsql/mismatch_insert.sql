-- A gateway may say the same many times, and after somebody has looked.
INSERT INTO payment_mismatch (attempt_id, order_id, amount, currency, reported_at)
SELECT r.attempt_id, r.order_id, r.amount, r.currency, r.reported_at
FROM @rows($1: attempt_id text, order_id text, amount int, currency text, reported_at int) AS r
WHERE true
ON CONFLICT DO NOTHING
