SELECT c.branch_id, c.stat_date, c.menu_item_id, c.cap, c.held_qty, c.used_qty
FROM sales_quota_counter c
JOIN @rows($1: branch_id int, stat_date text, item int) AS r
  ON c.branch_id = r.branch_id AND c.stat_date = r.stat_date AND c.menu_item_id = r.item AND c.slot_key = 'ALL_DAY'
ORDER BY c.branch_id, c.stat_date, c.menu_item_id
/*pg: FOR UPDATE OF c*/
