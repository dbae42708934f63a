INSERT INTO stock_adjustment (id, branch_id, item_id, kind, units, available, note, actor, created_at)
SELECT r.uid, r.branch_id, r.id, 'RECEIVE', r.available, r.available, 'demo', 'system', $2
FROM @rows($1: id int, branch_id int, uid text, available int) AS r
