SELECT o.biz_date, f.method, f.reason, f.state, count(*), CAST(sum(f.amount) AS BIGINT)
FROM order_info o
JOIN refund f ON f.order_id = o.id
WHERE o.branch_id = $1 AND o.biz_date >= $2 AND o.biz_date <= $3
GROUP BY o.biz_date, f.method, f.reason, f.state
ORDER BY o.biz_date, f.method, f.reason, f.state
