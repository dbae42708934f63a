-- I6: captured minus refunded is what is left of a PAID order's total, and nothing of any other.
SELECT o.id, o.payment_status, o.total_amount, coalesce(p.captured, 0), coalesce(f.refunded, 0)
FROM order_info o
LEFT JOIN (SELECT order_id, sum(amount) AS captured FROM payment_attempt WHERE state = 'PAID' AND order_id > $4 AND order_id <= $5 GROUP BY order_id) p ON p.order_id = o.id
LEFT JOIN (SELECT order_id, sum(amount) AS refunded FROM refund WHERE order_id > $4 AND order_id <= $5 GROUP BY order_id) f ON f.order_id = o.id
WHERE o.id > $4 AND o.id <= $5 AND o.biz_date >= $1 AND (CAST($3 AS BIGINT) = 0 OR o.branch_id = $3)
  AND coalesce(p.captured, 0) - coalesce(f.refunded, 0) <> CASE o.payment_status WHEN 'PAID' THEN o.total_amount - o.refunded_amount ELSE 0 END
ORDER BY o.id
LIMIT $2
