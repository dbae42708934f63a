-- A hold that counts belongs to an order. Those without a business date are other systems'.
SELECT h.id, h.state
FROM hold h
WHERE h.id > $4 AND h.id <= $5 AND h.biz_date >= $1 AND (CAST($3 AS BIGINT) = 0 OR h.branch_id = $3) AND h.biz_date <> '' AND h.state IN ('HELD', 'CONFIRMED')
  AND NOT EXISTS (SELECT 1 FROM order_info o WHERE o.id = h.id OR o.hold_id = h.id)
ORDER BY h.id
LIMIT $2
