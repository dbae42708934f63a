SELECT count(*)
FROM payment_attempt a
JOIN order_info o ON o.id = a.order_id
WHERE o.branch_id = $1 AND o.biz_date = $2 AND a.created_at >= $3 AND a.method = 'VNPAY' AND a.state = 'PAID'
