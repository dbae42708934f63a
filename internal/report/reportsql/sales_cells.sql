-- Local time is an instant and the shift of the stretch that it lies in; day 0 of the epoch was a Thursday.
SELECT (t.local / 86400000 + 3) % 7 + 1 AS weekday, t.local / 3600000 % 24 AS hour, count(*),
       CAST(sum(t.sale) AS BIGINT), CAST(coalesce(sum(t.sale * t.total_amount), 0) AS BIGINT)
FROM (
    SELECT o.created_at + z.shift AS local, o.total_amount, CASE WHEN o.paid_at IS NULL THEN 0 ELSE 1 END AS sale
    FROM order_info o
    JOIN @rows($4: starts int, ends int, shift int) AS z ON o.created_at >= z.starts AND o.created_at < z.ends
    WHERE o.branch_id = $1 AND o.biz_date >= $2 AND o.biz_date <= $3
) t
GROUP BY weekday, hour
ORDER BY weekday, hour
