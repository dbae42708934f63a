SELECT a.method, a.state, count(*), CAST(sum(a.amount) AS BIGINT)
FROM order_info o
JOIN payment_attempt a ON a.order_id = o.id
WHERE o.branch_id = $1 AND o.biz_date >= $2 AND o.biz_date <= $3
GROUP BY a.method, a.state
ORDER BY a.method, a.state
