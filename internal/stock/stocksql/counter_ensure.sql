-- A scope's counters begin with the standing quota of each item, or with nothing while it is off. Sorted, so that two
-- processes never wait for each other.
INSERT INTO sales_quota_counter (branch_id, stat_date, menu_item_id, cap)
SELECT r.branch_id, r.stat_date, m.id,
       CASE WHEN m.off_through >= r.stat_date THEN 0 ELSE m.daily_quota END
FROM @rows($1: branch_id int, stat_date text, item int) AS r
JOIN menu_item m ON m.id = r.item AND m.branch_id = r.branch_id
WHERE true
ORDER BY r.branch_id, r.stat_date, m.id
ON CONFLICT DO NOTHING
