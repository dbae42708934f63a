INSERT INTO refund (id, order_id, attempt_id, amount, currency, state, reason, created_at)
SELECT r.id, r.order_id, r.attempt_id, r.amount, r.currency, 'DUE', r.reason, r.created_at
FROM @rows($1: id text, order_id text, attempt_id text, amount int, currency text, reason text, created_at int) AS r
