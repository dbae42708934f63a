-- name: counter_add
UPDATE sales_quota_counter
SET held_qty = sales_quota_counter.held_qty + r.held, used_qty = sales_quota_counter.used_qty + r.used
FROM @rows($1: branch_id int, stat_date text, item int, held int, used int) AS r
WHERE sales_quota_counter.branch_id = r.branch_id AND sales_quota_counter.stat_date = r.stat_date
  AND sales_quota_counter.menu_item_id = r.item AND sales_quota_counter.slot_key = 'ALL_DAY'

-- name: counter_cap
-- A cap may be less than held plus used. It then only stops new holds. While an item is off sale, its caps are set to 0 only.
UPDATE sales_quota_counter
SET cap = $4, off = (SELECT CASE WHEN m.off_at IS NULL THEN 0 ELSE 1 END FROM menu_item m WHERE m.id = $2)
WHERE branch_id = $1 AND menu_item_id = $2 AND slot_key = 'ALL_DAY' AND stat_date >= $3
RETURNING stat_date

-- name: counter_ensure
-- A new counter has the item's daily quota as its cap, or 0 while the item is off sale. The rows are sorted, so that two
-- processes cannot deadlock.
INSERT INTO sales_quota_counter (branch_id, stat_date, menu_item_id, cap, off)
SELECT r.branch_id, r.stat_date, m.id,
       CASE WHEN m.off_through >= r.stat_date THEN 0 ELSE m.daily_quota END,
       CASE WHEN m.off_through >= r.stat_date THEN 1 ELSE 0 END
FROM @rows($1: branch_id int, stat_date text, item int) AS r
JOIN menu_item m ON m.id = r.item AND m.branch_id = r.branch_id
WHERE true
ORDER BY r.branch_id, r.stat_date, m.id
ON CONFLICT DO NOTHING

-- name: counter_ensure_branch
INSERT INTO sales_quota_counter (branch_id, stat_date, menu_item_id, cap, off)
SELECT m.branch_id, CAST($2 AS TEXT), m.id,
       CASE WHEN m.off_through >= CAST($2 AS TEXT) THEN 0 ELSE m.daily_quota END,
       CASE WHEN m.off_through >= CAST($2 AS TEXT) THEN 1 ELSE 0 END
FROM menu_item m
WHERE m.branch_id = $1
ORDER BY m.branch_id, m.id
ON CONFLICT DO NOTHING

-- name: counter_lock
-- CROSS JOIN makes SQLite read the rows first. With statistics (ANALYZE) it would otherwise read all rows for each counter of
-- the date, which takes 200 times as long for 200 counters.
SELECT c.branch_id, c.stat_date, c.menu_item_id, c.cap, c.held_qty, c.used_qty
FROM @rows($1: branch_id int, stat_date text, item int) AS r
/*sqlite: CROSS*/ JOIN sales_quota_counter c
  ON c.branch_id = r.branch_id AND c.stat_date = r.stat_date AND c.menu_item_id = r.item AND c.slot_key = 'ALL_DAY'
ORDER BY c.branch_id, c.stat_date, c.menu_item_id
/*pg: FOR UPDATE OF c*/

-- name: counter_select_scope
SELECT c.menu_item_id, c.cap, c.held_qty, c.used_qty
FROM sales_quota_counter c
WHERE c.branch_id = $1 AND c.stat_date = $2 AND c.slot_key = 'ALL_DAY'
ORDER BY c.menu_item_id
