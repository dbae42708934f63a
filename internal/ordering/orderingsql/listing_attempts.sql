SELECT a.id, a.order_id, a.method, a.amount, a.currency, a.state, a.gateway_ref, a.created_at, coalesce(a.settled_at, 0),
       o.number, o.biz_date
FROM order_info o
JOIN payment_attempt a ON a.order_id = o.id
WHERE o.branch_id = $1 AND o.biz_date >= $2 AND o.biz_date <= $3
  AND (CAST($4 AS TEXT) = '' OR a.method = $4)
  AND (CAST($5 AS TEXT) = '' OR a.state = $5)
ORDER BY o.biz_date DESC, o.number DESC, a.id DESC
LIMIT $6 OFFSET $7
