INSERT INTO inventory (branch_id, item_id, available)
SELECT r.branch_id, r.id, r.available FROM @rows($1: id int, branch_id int, available int) AS r
