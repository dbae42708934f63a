INSERT INTO order_item (order_id, line, menu_item_id, dish_id, name_snapshot, price_snapshot, qty, notes)
SELECT r.id, r.line, r.item, r.item, r.name, 30000, 1, ''
FROM @rows($1: id text, line int, item int, name text) AS r
