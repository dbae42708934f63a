INSERT INTO hold_line (hold_id, menu_item_id, qty)
SELECT r.hold_id, r.item, r.qty
FROM @rows($1: hold_id text, item int, qty int) AS r
