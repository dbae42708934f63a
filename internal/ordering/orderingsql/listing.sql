-- fragment: listing_matches
o.branch_id = $1 AND o.biz_date >= $2 AND o.biz_date <= $3
AND (CAST($4 AS TEXT) = '' OR o.status = $4)
AND (CAST($5 AS TEXT) = '' OR o.payment_status = $5)
AND (CAST($6 AS TEXT) = '' OR o.cancel_reason = $6)
AND (CAST($7 AS BIGINT) = 0 OR o.number = $7)
AND (CAST($8 AS BIGINT) = 0 OR (o.number - 1) % 999 + 1 = $8)

-- fragment: found_orders
-- CROSS JOIN makes SQLite read the searched words and numbers first, see counter_lock. The plus makes it find the visits of
-- the tables, and not read all visits of the branch.
WITH found AS (
    SELECT o.id
    FROM @rows($9: id int) AS r
    /*sqlite: CROSS*/ JOIN order_number n ON r.id <= n.last
    JOIN order_info o ON o.branch_id = n.branch_id AND o.biz_date = n.biz_date AND o.number = r.id
    WHERE n.branch_id = $1 AND n.biz_date >= $2 AND n.biz_date <= $3
    UNION
    SELECT o.id
    FROM (
        SELECT v.id
        FROM @rows($10: id int) AS r
        JOIN visit v ON v.table_id = r.id
        WHERE /*sqlite: + */v.branch_id = $1 AND v.biz_date <= $3
        ORDER BY v.opened_at DESC
        LIMIT 200
    ) AS recent_visits
    JOIN order_info o ON o.visit_id = recent_visits.id
    UNION
    SELECT o.id
    FROM order_info o
    WHERE o.branch_id = $1 AND o.receiver_phone IS NOT NULL
      AND substr(o.receiver_phone, length(o.receiver_phone) - 3) = $11 AND o.receiver_phone LIKE $12
    UNION
    SELECT * FROM (
        SELECT w.order_id
        FROM @rows($13: low text, high text) AS r
        /*sqlite: CROSS*/ JOIN order_word w ON w.branch_id = $1 AND w.word >= r.low AND w.word < r.high
        WHERE w.biz_date >= $2 AND w.biz_date <= $3
        GROUP BY w.order_id
        HAVING count(DISTINCT r.low) = $14
        ORDER BY w.order_id DESC
        LIMIT 200
    ) AS names
    UNION
    SELECT o.id FROM order_info o WHERE o.visit_id = $15
)

-- fragment: attempt_matches
-- An order without rows in payment_attempt counts as its first attempt, see ordering.Order.FirstAttempt.
FROM order_info o
LEFT JOIN payment_attempt a ON a.order_id = o.id
WHERE o.branch_id = $1 AND o.biz_date >= $2 AND o.biz_date <= $3
  AND (CAST($4 AS TEXT) = '' OR coalesce(a.method, o.payment_method) = $4)
  AND (CAST($5 AS TEXT) = '' OR coalesce(a.state, 'CREATED') = $5)

-- name: listing_attempts
SELECT coalesce(a.id, o.payment_ref, o.id), o.id, coalesce(a.method, o.payment_method), coalesce(a.amount, o.total_amount),
       o.currency, coalesce(a.state, 'CREATED'), coalesce(a.gateway_ref, ''), coalesce(a.created_at, o.created_at),
       coalesce(a.settled_at, 0), o.number, o.biz_date
@attempt_matches
ORDER BY o.biz_date DESC, o.number DESC, a.id DESC
LIMIT $6 OFFSET $7

-- name: listing_attempts_count
SELECT count(*)
@attempt_matches

-- name: listing_found
-- Finds orders by any part of a search. Each part of the union uses an index of its own. Numbers restart every business
-- date, so each date is looked up. A table matches its last 200 visits, and a name its last 200 orders; order ids sort
-- by time. CROSS JOIN keeps SQLite from reading all orders of the dates.
@found_orders
SELECT o.id, coalesce(t.label, '')
FROM found f
/*sqlite: CROSS*/ JOIN order_info o ON o.id = f.id
LEFT JOIN visit v ON v.id = o.visit_id
LEFT JOIN dining_table t ON t.id = v.table_id
WHERE @listing_matches
ORDER BY o.biz_date DESC, o.number DESC
LIMIT $16 OFFSET $17

-- name: listing_found_count
@found_orders
SELECT count(*)
FROM found f
/*sqlite: CROSS*/ JOIN order_info o ON o.id = f.id
WHERE @listing_matches

-- name: listing_labels
SELECT id, label FROM dining_table WHERE branch_id = $1

-- name: listing_orders
-- Lists orders that match all given filters. An empty text or 0 disables a filter. The index on branch, date and number
-- provides the sort order.
SELECT o.id, coalesce(t.label, '')
FROM order_info o
LEFT JOIN visit v ON v.id = o.visit_id
LEFT JOIN dining_table t ON t.id = v.table_id
WHERE @listing_matches
ORDER BY o.biz_date DESC, o.number DESC
LIMIT $9 OFFSET $10

-- name: listing_orders_count
SELECT count(*)
FROM order_info o
WHERE @listing_matches

-- name: word_insert
-- Without the WHERE clause, SQLite would parse ON CONFLICT as a join condition.
INSERT INTO order_word (branch_id, word, biz_date, order_id)
SELECT r.branch_id, r.word, r.biz_date, r.order_id FROM @rows($1: branch_id int, word text, biz_date text, order_id text) AS r
WHERE 1 = 1
ON CONFLICT DO NOTHING

-- name: word_indexed
UPDATE order_info SET named_at = $2
FROM @rows($1: id text) AS r
WHERE order_info.id = r.id

-- name: word_unindexed
-- Finds orders whose receivers' names are not indexed yet. The partial index contains only these orders, in this order.
SELECT o.id, o.branch_id, o.biz_date, o.receiver_name
FROM order_info o
WHERE o.receiver_name IS NOT NULL AND o.named_at IS NULL
ORDER BY o.id
LIMIT $1
