-- I1: held is the sum of HELD lines, used the sum of CONFIRMED lines.
SELECT c.branch_id, c.stat_date, c.menu_item_id, c.held_qty, c.used_qty, coalesce(s.held, 0), coalesce(s.used, 0)
FROM sales_quota_counter c
LEFT JOIN (
    SELECT h.branch_id, h.biz_date, l.item_id,
           sum(CASE WHEN h.state = 'HELD' THEN l.qty ELSE 0 END) AS held,
           sum(CASE WHEN h.state = 'CONFIRMED' THEN l.qty ELSE 0 END) AS used
    FROM hold h JOIN hold_line l ON l.hold_id = h.id
    WHERE h.biz_date >= $1 AND l.stock = 0
    GROUP BY h.branch_id, h.biz_date, l.item_id
) s ON s.branch_id = c.branch_id AND s.biz_date = c.stat_date AND s.item_id = c.menu_item_id
WHERE c.stat_date >= $1 AND (CAST($2 AS BIGINT) = 0 OR c.branch_id = $2) AND c.slot_key = 'ALL_DAY'
  AND (c.held_qty <> coalesce(s.held, 0) OR c.used_qty <> coalesce(s.used, 0))
ORDER BY c.branch_id, c.stat_date, c.menu_item_id
