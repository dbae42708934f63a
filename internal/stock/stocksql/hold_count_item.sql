-- Holds of a business date that are not paid yet and have some of a menu item.
SELECT COUNT(*), COALESCE(SUM(l.qty), 0)
FROM hold h
JOIN hold_line l ON l.hold_id = h.id AND l.stock = 0 AND l.item_id = $3
WHERE h.branch_id = $1 AND h.biz_date = $2 AND h.state = 'HELD'
