SELECT c.menu_item_id, c.cap, c.held_qty, c.used_qty
FROM sales_quota_counter c
WHERE c.branch_id = $1 AND c.stat_date = $2 AND c.slot_key = 'ALL_DAY'
ORDER BY c.branch_id, c.stat_date, c.menu_item_id
/*pg: FOR UPDATE*/
