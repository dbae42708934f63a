SELECT a.id, a.order_id, o.number, o.biz_date, a.method, a.amount, a.currency, a.state, a.gateway_ref, a.created_at
FROM payment_attempt a
JOIN order_info o ON o.id = a.order_id
WHERE a.state IN ('REVIEW', 'UNKNOWN') AND o.branch_id = $1
ORDER BY a.created_at
LIMIT $2
