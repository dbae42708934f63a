-- An order's money and its hold move together.
SELECT o.id, o.status, o.payment_status, coalesce(h.state, 'none')
FROM order_info o
LEFT JOIN hold h ON h.id = o.hold_id
WHERE o.id > $4 AND o.id <= $5 AND o.biz_date >= $1 AND (CAST($3 AS BIGINT) = 0 OR o.branch_id = $3) AND coalesce(h.state, 'none') <> CASE
    WHEN o.payment_status IN ('UNPAID', 'CONFIRMING') THEN 'HELD'
    WHEN o.payment_status = 'PAID' OR o.status <> 'CANCELED' THEN 'CONFIRMED'
    ELSE 'RELEASED' END
ORDER BY o.id
LIMIT $2
