-- What an order holds is what it lists.
SELECT o.id, i.menu_item_id, i.qty, coalesce(l.qty, 0)
FROM order_info o
JOIN (SELECT order_id, menu_item_id, sum(qty) AS qty FROM order_item WHERE order_id > $4 AND order_id <= $5 GROUP BY order_id, menu_item_id) i ON i.order_id = o.id
LEFT JOIN hold_line l ON l.hold_id = o.hold_id AND l.stock = 0 AND l.item_id = i.menu_item_id
WHERE o.id > $4 AND o.id <= $5 AND o.biz_date >= $1 AND (CAST($3 AS BIGINT) = 0 OR o.branch_id = $3) AND i.qty <> coalesce(l.qty, 0)
ORDER BY o.id
LIMIT $2
