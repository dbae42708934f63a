INSERT INTO order_number (branch_id, biz_date, last)
SELECT r.branch_id, r.biz_date, 0 FROM @rows($1: branch_id int, biz_date text) AS r
WHERE NOT EXISTS (SELECT 1 FROM order_number n WHERE n.branch_id = r.branch_id AND n.biz_date = r.biz_date)
ORDER BY r.branch_id, r.biz_date
ON CONFLICT DO NOTHING
