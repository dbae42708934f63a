SELECT o.user_id, count(*)
FROM order_info o
JOIN @rows($1: id int) AS r ON o.user_id = r.id
WHERE o.payment_status IN ('UNPAID', 'CONFIRMING')
GROUP BY o.user_id
