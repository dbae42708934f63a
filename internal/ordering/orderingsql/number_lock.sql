SELECT n.branch_id, n.biz_date, n.last
FROM order_number n
JOIN @rows($1: branch_id int, biz_date text) AS r ON n.branch_id = r.branch_id AND n.biz_date = r.biz_date
ORDER BY n.branch_id, n.biz_date
/*pg: FOR UPDATE OF n*/
