INSERT INTO hold_line (hold_id, stock, item_id, qty)
SELECT r.id, 0, r.item, 1
FROM @rows($1: id text, item int) AS r
