-- Lines that no counter knows: they would be missing from the comparison above.
SELECT h.branch_id, h.biz_date, l.item_id, count(*)
FROM hold h JOIN hold_line l ON l.hold_id = h.id
WHERE h.biz_date >= $1 AND (CAST($2 AS BIGINT) = 0 OR h.branch_id = $2) AND h.state IN ('HELD', 'CONFIRMED') AND l.stock = 0 AND NOT EXISTS (
    SELECT 1 FROM sales_quota_counter c
    WHERE c.branch_id = h.branch_id AND c.stat_date = h.biz_date AND c.menu_item_id = l.item_id)
GROUP BY h.branch_id, h.biz_date, l.item_id
