INSERT INTO order_number (branch_id, biz_date, last)
SELECT r.branch_id, r.biz_date, 0 FROM @rows($1: branch_id int, biz_date text) AS r
WHERE true
ORDER BY r.branch_id, r.biz_date
ON CONFLICT DO NOTHING
