SELECT t.biz_date, t.reason, count(*), CAST(sum(t.total_amount) AS BIGINT), CAST(sum(t.page) AS BIGINT),
       CAST(sum(t.page * t.total_amount) AS BIGINT)
FROM (
    SELECT o.biz_date, coalesce(o.cancel_reason, '') AS reason, o.total_amount,
           CASE WHEN EXISTS (
               SELECT 1 FROM payment_attempt a WHERE a.order_id = o.id AND a.redirect_url <> '' AND a.state <> 'PAID'
           ) THEN 1 ELSE 0 END AS page
    FROM order_info o
    WHERE o.branch_id = $1 AND o.biz_date >= $2 AND o.biz_date <= $3 AND o.status = 'CANCELED' AND o.paid_at IS NULL
) t
GROUP BY t.biz_date, t.reason
ORDER BY t.biz_date, t.reason
