UPDATE sales_quota_counter SET held_qty = sales_quota_counter.held_qty + r.qty
FROM @rows($1: item int, qty int) AS r
WHERE sales_quota_counter.branch_id = 9000 AND sales_quota_counter.stat_date = $2
  AND sales_quota_counter.menu_item_id = r.item AND sales_quota_counter.slot_key = 'ALL_DAY'
