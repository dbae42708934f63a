SELECT h.id, h.branch_id, h.biz_date, h.state, h.expires_at, l.stock, l.item_id, l.qty
FROM hold h
JOIN @rows($1: id text) AS r ON h.id = r.id
LEFT JOIN hold_line l ON l.hold_id = h.id
ORDER BY h.id, l.stock, l.item_id
