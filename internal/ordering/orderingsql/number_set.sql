UPDATE order_number SET last = r.last
FROM @rows($1: branch_id int, biz_date text, last int) AS r
WHERE order_number.branch_id = r.branch_id AND order_number.biz_date = r.biz_date
