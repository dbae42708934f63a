SELECT count(*)
FROM order_info o
WHERE o.branch_id = $1 AND o.biz_date >= $2 AND o.biz_date <= $3
  AND (CAST($4 AS TEXT) = '' OR o.status = $4)
  AND (CAST($5 AS TEXT) = '' OR o.payment_status = $5)
  AND (CAST($6 AS TEXT) = '' OR o.cancel_reason = $6)
  AND (CAST($7 AS BIGINT) = 0 OR o.number = $7)
  AND (CAST($8 AS BIGINT) = 0 OR (o.number - 1) % 999 + 1 = $8)
