SELECT count(*)
FROM order_info o
JOIN payment_attempt a ON a.order_id = o.id
WHERE o.branch_id = $1 AND o.biz_date >= $2 AND o.biz_date <= $3
  AND (CAST($4 AS TEXT) = '' OR a.method = $4)
  AND (CAST($5 AS TEXT) = '' OR a.state = $5)
