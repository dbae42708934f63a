-- The same of a branch's stock: reservations of other systems, and what orders of the last days take of it. An order
-- that is held longer than that was given up long ago. Each part has an index of its own; the counters are locked while
-- this is read, and most holds that ever were ended long ago.
SELECT h.id, h.branch_id, '', h.state, h.expires_at, l.stock, l.item_id, l.qty
FROM (
    SELECT a.id, a.branch_id, a.state, a.expires_at FROM hold a
    WHERE a.branch_id = $1 AND a.biz_date = '' AND a.state = 'HELD'
    UNION ALL
    SELECT b.id, b.branch_id, b.state, b.expires_at FROM hold b
    WHERE b.branch_id = $1 AND b.biz_date = '' AND b.state <> 'HELD' AND b.updated_at >= $2
    UNION ALL
    SELECT c.id, c.branch_id, c.state, c.expires_at FROM hold c
    WHERE c.branch_id = $1 AND c.biz_date >= $3 AND (c.state = 'HELD' OR c.updated_at >= $2)
) AS h
JOIN hold_line l ON l.hold_id = h.id AND l.stock = 1
ORDER BY h.id, l.item_id
