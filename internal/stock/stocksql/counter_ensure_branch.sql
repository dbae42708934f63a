INSERT INTO sales_quota_counter (branch_id, stat_date, menu_item_id, cap)
SELECT m.branch_id, CAST($2 AS TEXT), m.id,
       CASE WHEN m.off_through >= CAST($2 AS TEXT) THEN 0 ELSE m.daily_quota END
FROM menu_item m
WHERE m.branch_id = $1
ORDER BY m.branch_id, m.id
ON CONFLICT DO NOTHING
