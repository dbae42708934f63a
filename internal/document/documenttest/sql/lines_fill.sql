INSERT INTO order_item (order_id, line, menu_item_id, dish_id, name_snapshot, price_snapshot, qty)
SELECT o.id, l.line, 11, 4, 'Phở bò', 65000, 2
FROM order_info o
CROSS JOIN (SELECT 1 AS line UNION ALL SELECT 2 UNION ALL SELECT 3) AS l
