SELECT o.visit_id, o.guest_hash, count(*)
FROM order_info o
JOIN @rows($1: id text) AS r ON o.visit_id = r.id
WHERE o.payment_status IN ('UNPAID', 'CONFIRMING')
GROUP BY o.visit_id, o.guest_hash
