-- name: drift_counters
SELECT c.branch_id, c.stat_date, c.menu_item_id, c.held_qty, c.used_qty
FROM sales_quota_counter c
WHERE c.stat_date >= $1 AND (CAST($2 AS BIGINT) = 0 OR c.branch_id = $2) AND c.slot_key = 'ALL_DAY'
ORDER BY c.branch_id, c.stat_date, c.menu_item_id

-- name: drift_inventory
SELECT v.branch_id, v.item_id, i.sku, v.available, v.reserved, v.sold, coalesce(a.units, 0)
FROM inventory v
JOIN stock_item i ON i.id = v.item_id
LEFT JOIN (SELECT item_id, sum(units) AS units FROM stock_adjustment GROUP BY item_id) a ON a.item_id = v.item_id
WHERE CAST($1 AS BIGINT) = 0 OR v.branch_id = $1
ORDER BY v.branch_id, i.sku

-- name: drift_holds
-- Returns the active holds of a window of ids. Orders before a business date are included if they take stock items, which
-- have no date: their lines contain an s.
SELECT h.branch_id, h.biz_date, h.state, h.lines
FROM hold h
WHERE h.id > $3 AND h.id <= $4 AND h.state IN ('HELD', 'CONFIRMED')
  AND (CAST($2 AS BIGINT) = 0 OR h.branch_id = $2) AND (h.biz_date >= $1 OR h.lines LIKE '%s%')

-- name: drift_window
-- Returns the last id of the next $2 holds after $1, or an empty text at the end.
SELECT coalesce(max(w.id), '') FROM (SELECT h.id FROM hold h WHERE h.id > $1 ORDER BY h.id LIMIT $2) w
