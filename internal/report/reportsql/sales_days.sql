SELECT o.biz_date, count(*),
       count(o.paid_at),
       CAST(sum(CASE WHEN o.paid_at IS NULL AND o.status = 'CANCELED' THEN 1 ELSE 0 END) AS BIGINT),
       CAST(sum(CASE WHEN o.paid_at IS NULL THEN 0 ELSE o.total_amount END) AS BIGINT),
       CAST(sum(CASE WHEN o.paid_at IS NULL THEN 0 ELSE o.refunded_amount END) AS BIGINT)
FROM order_info o
WHERE o.branch_id = $1 AND o.biz_date >= $2 AND o.biz_date <= $3
GROUP BY o.biz_date
ORDER BY o.biz_date
