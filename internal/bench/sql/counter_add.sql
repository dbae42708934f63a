-- Every part of the key comes from the rows: SQLite would otherwise look through the rows once for each counter.
UPDATE sales_quota_counter SET held_qty = sales_quota_counter.held_qty + r.qty
FROM @rows($1: branch_id int, stat_date text, item int, qty int) AS r
WHERE sales_quota_counter.branch_id = r.branch_id AND sales_quota_counter.stat_date = r.stat_date
  AND sales_quota_counter.menu_item_id = r.item AND sales_quota_counter.slot_key = 'ALL_DAY'
