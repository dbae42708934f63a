UPDATE inventory
SET available = inventory.available + r.available, reserved = inventory.reserved + r.reserved, sold = inventory.sold + r.sold
FROM @rows($1: branch_id int, item int, available int, reserved int, sold int) AS r
WHERE inventory.branch_id = r.branch_id AND inventory.item_id = r.item
