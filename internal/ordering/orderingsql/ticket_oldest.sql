-- Since when the first ticket of each branch waits. Business dates before $1, and what was paid before $2, nobody works on
-- any more.
SELECT o.branch_id, min(o.paid_at)
FROM branch b
JOIN order_info o ON o.branch_id = b.id AND o.biz_date >= $1
WHERE o.status IN ('PLACED', 'ACCEPTED', 'PREPARING', 'READY') AND o.void_seen = 0 AND o.payment_status = 'PAID' AND o.paid_at >= $2
GROUP BY o.branch_id
