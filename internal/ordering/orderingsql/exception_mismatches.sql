SELECT m.attempt_id, m.order_id, o.number, o.biz_date, a.method, a.amount, a.currency, a.state, a.gateway_ref, m.amount,
       m.currency, m.reported_at
FROM payment_mismatch m
JOIN payment_attempt a ON a.id = m.attempt_id
JOIN order_info o ON o.id = m.order_id
WHERE m.cleared_at IS NULL AND o.branch_id = $1
ORDER BY m.reported_at, m.attempt_id, m.amount
LIMIT $2
