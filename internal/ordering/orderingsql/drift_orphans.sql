-- A hold that counts belongs to an order.
SELECT h.id, h.state
FROM hold h
WHERE h.biz_date >= $1 AND h.state IN ('HELD', 'CONFIRMED')
  AND NOT EXISTS (SELECT 1 FROM order_info o WHERE o.id = h.id OR o.hold_id = h.id)
ORDER BY h.id
LIMIT $2
