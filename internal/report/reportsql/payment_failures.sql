-- What a report came to when it was a success, or was heard before, is no failure.
SELECT e.method, e.verdict, e.raw
FROM order_info o
JOIN payment_event e ON e.order_id = o.id
WHERE o.branch_id = $1 AND o.biz_date >= $2 AND o.biz_date <= $3
  AND e.verdict IN ('FAILED', 'CANCELED', 'REVIEW', 'AMOUNT_MISMATCH')
ORDER BY e.received_at DESC
LIMIT $4
