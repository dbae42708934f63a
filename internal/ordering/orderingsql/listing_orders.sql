-- Empty texts and zeros choose all. The index on branch, date and number gives the order of the list.
SELECT o.id, coalesce(t.label, '')
FROM order_info o
LEFT JOIN visit v ON v.id = o.visit_id
LEFT JOIN dining_table t ON t.id = v.table_id
WHERE o.branch_id = $1 AND o.biz_date >= $2 AND o.biz_date <= $3
  AND (CAST($4 AS TEXT) = '' OR o.status = $4)
  AND (CAST($5 AS TEXT) = '' OR o.payment_status = $5)
  AND (CAST($6 AS TEXT) = '' OR o.cancel_reason = $6)
  AND (CAST($7 AS BIGINT) = 0 OR o.number = $7)
  AND (CAST($8 AS BIGINT) = 0 OR (o.number - 1) % 999 + 1 = $8)
ORDER BY o.biz_date DESC, o.number DESC
LIMIT $9 OFFSET $10
