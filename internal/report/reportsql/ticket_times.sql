-- The first time that somebody took a ticket counts, and the last time that it was ready: what was ready and was recalled
-- was not. An order without a step is no ticket.
SELECT o.biz_date, o.paid_at,
       coalesce(min(CASE WHEN s.from_status = 'PLACED' THEN s.at END), 0),
       coalesce(max(CASE WHEN s.to_status = 'READY' AND s.from_status NOT IN ('SERVED', 'COMPLETED') THEN s.at END), 0),
       coalesce(max(CASE WHEN s.to_status IN ('SERVED', 'COMPLETED') THEN s.at END), 0)
FROM order_info o
JOIN order_step s ON s.order_id = o.id
WHERE o.branch_id = $1 AND o.biz_date >= $2 AND o.biz_date <= $3 AND o.paid_at IS NOT NULL
GROUP BY o.id, o.biz_date, o.paid_at
