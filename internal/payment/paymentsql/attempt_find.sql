SELECT a.id, a.order_id, o.branch_id
FROM payment_attempt a
JOIN order_info o ON o.id = a.order_id
JOIN @rows($1: id text) AS r ON a.id = r.id
