SELECT f.id, f.order_id, f.attempt_id, f.amount, f.currency, f.reason, f.created_at
FROM refund f
JOIN @rows($1: id text) AS r ON f.order_id = r.id
ORDER BY f.order_id, f.id
