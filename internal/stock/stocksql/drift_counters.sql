SELECT c.branch_id, c.stat_date, c.menu_item_id, c.held_qty, c.used_qty
FROM sales_quota_counter c
WHERE c.stat_date >= $1 AND (CAST($2 AS BIGINT) = 0 OR c.branch_id = $2) AND c.slot_key = 'ALL_DAY'
ORDER BY c.branch_id, c.stat_date, c.menu_item_id
