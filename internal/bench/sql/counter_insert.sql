INSERT INTO sales_quota_counter (branch_id, stat_date, menu_item_id, cap)
SELECT m.branch_id, CAST($1 AS TEXT), m.id, m.daily_quota
FROM menu_item m
WHERE m.branch_id = 9000
