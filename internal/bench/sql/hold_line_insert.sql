INSERT INTO hold_line (hold_id, menu_item_id, qty)
SELECT r.id, r.item, 1
FROM @rows($1: id text, item int) AS r
