-- What the holds of a window of ids take: of quotas from a business date on, and of the stock, which has no date.
SELECT h.branch_id, CASE WHEN l.stock = 1 THEN '' ELSE h.biz_date END AS date, l.item_id,
       sum(CASE WHEN h.state = 'HELD' THEN l.qty ELSE 0 END),
       sum(CASE WHEN h.state = 'CONFIRMED' THEN l.qty ELSE 0 END), count(*)
FROM hold h
JOIN hold_line l ON l.hold_id = h.id
WHERE h.id > $3 AND h.id <= $4 AND h.state IN ('HELD', 'CONFIRMED')
  AND (CAST($2 AS BIGINT) = 0 OR h.branch_id = $2) AND (l.stock = 1 OR h.biz_date >= $1)
GROUP BY h.branch_id, CASE WHEN l.stock = 1 THEN '' ELSE h.biz_date END, l.item_id
