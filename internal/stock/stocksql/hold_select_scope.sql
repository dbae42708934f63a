-- What the gate must remember of a scope: everything that is held, and what ended so recently that an operation on it
-- may still be on its way.
SELECT h.id, h.branch_id, h.biz_date, h.state, h.expires_at, l.stock, l.item_id, l.qty
FROM hold h
JOIN hold_line l ON l.hold_id = h.id
WHERE h.branch_id = $1 AND h.biz_date = $2 AND (h.state = 'HELD' OR h.updated_at >= $3) AND l.stock = 0
ORDER BY h.id, l.item_id
