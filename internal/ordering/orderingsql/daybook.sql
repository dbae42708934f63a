-- name: daybook_add
-- Adds figures to the totals of their dates. Without WHERE true, SQLite would parse ON CONFLICT as a join condition.
INSERT INTO daybook (branch_id, biz_date, placed, paid, canceled, revenue)
SELECT r.branch_id, r.biz_date, r.placed, r.paid, r.canceled, r.revenue
FROM @rows($1: branch_id int, biz_date text, placed int, paid int, canceled int, revenue int) AS r
WHERE true
ORDER BY r.branch_id, r.biz_date
ON CONFLICT (branch_id, biz_date) DO UPDATE SET
    placed = daybook.placed + excluded.placed, paid = daybook.paid + excluded.paid,
    canceled = daybook.canceled + excluded.canceled, revenue = daybook.revenue + excluded.revenue

-- name: daybook_select
SELECT placed, paid, canceled, revenue FROM daybook WHERE branch_id = $1 AND biz_date = $2
