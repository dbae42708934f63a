INSERT INTO order_item (order_id, line, menu_item_id, dish_id, name_snapshot, price_snapshot, qty)
VALUES ($1, $2, 11, $3, 'Phở', 65000, 2)
ON CONFLICT (order_id, line) DO NOTHING
