-- I1 for the stock: reserved is the sum of HELD lines, sold of CONFIRMED lines, and all units came by an adjustment.
SELECT v.branch_id, i.sku, v.available, v.reserved, v.sold, coalesce(s.held, 0), coalesce(s.used, 0), coalesce(a.units, 0)
FROM inventory v
JOIN stock_item i ON i.id = v.item_id
LEFT JOIN (
    SELECT l.item_id,
           sum(CASE WHEN h.state = 'HELD' THEN l.qty ELSE 0 END) AS held,
           sum(CASE WHEN h.state = 'CONFIRMED' THEN l.qty ELSE 0 END) AS used
    FROM hold_line l JOIN hold h ON h.id = l.hold_id
    WHERE l.stock = 1
    GROUP BY l.item_id
) s ON s.item_id = v.item_id
LEFT JOIN (SELECT item_id, sum(units) AS units FROM stock_adjustment GROUP BY item_id) a ON a.item_id = v.item_id
WHERE (CAST($1 AS BIGINT) = 0 OR v.branch_id = $1)
  AND (v.reserved <> coalesce(s.held, 0) OR v.sold <> coalesce(s.used, 0)
    OR v.available + v.reserved + v.sold <> coalesce(a.units, 0))
ORDER BY v.branch_id, i.sku
