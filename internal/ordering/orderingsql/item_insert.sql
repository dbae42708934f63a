INSERT INTO order_item (order_id, line, menu_item_id, dish_id, name_snapshot, names, price_snapshot, qty, notes)
SELECT r.order_id, r.line, r.item, r.dish, r.name, r.names, r.price, r.qty, r.notes
FROM @rows($1: order_id text, line int, item int, dish int, name text, names text, price int, qty int, notes text) AS r
