INSERT INTO hold_line (hold_id, stock, item_id, qty)
SELECT r.hold_id, r.stock, r.item, r.qty
FROM @rows($1: hold_id text, stock int, item int, qty int) AS r
