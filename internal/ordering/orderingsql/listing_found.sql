-- What a search finds, each kind of it by an index of its own. A number exists on most days: each day is asked for it. Of a
-- table the last 200 parties are found, and of a name the last 200 orders, whose ids sort by time.
WITH found AS (
    SELECT o.id
    FROM order_number n
    JOIN @rows($9: id int) AS r ON r.id <= n.last
    JOIN order_info o ON o.branch_id = n.branch_id AND o.biz_date = n.biz_date AND o.number = r.id
    WHERE n.branch_id = $1 AND n.biz_date >= $2 AND n.biz_date <= $3
    UNION
    SELECT o.id
    FROM (
        SELECT v.id
        FROM dining_table t
        JOIN visit v ON v.table_id = t.id
        WHERE t.branch_id = $1 AND lower(t.label) = $10 AND v.biz_date <= $3
        ORDER BY v.opened_at DESC
        LIMIT 200
    ) AS parties
    JOIN order_info o ON o.visit_id = parties.id
    UNION
    SELECT o.id
    FROM order_info o
    WHERE o.branch_id = $1 AND o.receiver_phone IS NOT NULL
      AND substr(o.receiver_phone, length(o.receiver_phone) - 3) = $11 AND o.receiver_phone LIKE $12
    UNION
    SELECT * FROM (
        SELECT w.order_id
        FROM @rows($13: low text, high text) AS r
        JOIN order_word w ON w.branch_id = $1 AND w.word >= r.low AND w.word < r.high
        WHERE w.biz_date >= $2 AND w.biz_date <= $3
        GROUP BY w.order_id
        HAVING count(DISTINCT r.low) = $14
        ORDER BY w.order_id DESC
        LIMIT 200
    ) AS names
    UNION
    SELECT o.id FROM order_info o WHERE o.visit_id = $15
)
SELECT o.id, coalesce(t.label, '')
FROM found f
JOIN order_info o ON o.id = f.id
LEFT JOIN visit v ON v.id = o.visit_id
LEFT JOIN dining_table t ON t.id = v.table_id
WHERE o.branch_id = $1 AND o.biz_date >= $2 AND o.biz_date <= $3
  AND (CAST($4 AS TEXT) = '' OR o.status = $4)
  AND (CAST($5 AS TEXT) = '' OR o.payment_status = $5)
  AND (CAST($6 AS TEXT) = '' OR o.cancel_reason = $6)
  AND (CAST($7 AS BIGINT) = 0 OR o.number = $7)
  AND (CAST($8 AS BIGINT) = 0 OR (o.number - 1) % 999 + 1 = $8)
ORDER BY o.biz_date DESC, o.number DESC
LIMIT $16 OFFSET $17
