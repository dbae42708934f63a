-- name: drift_lines
-- Finds orders whose hold has other quantities than their items. A hold's lines are item:quantity, separated by spaces.
-- Orders with options take more than their items; drift_parts reads them.
SELECT o.id, i.menu_item_id, i.qty, coalesce(h.lines, '')
FROM order_info o
JOIN (SELECT order_id, menu_item_id, sum(qty) AS qty FROM order_item WHERE order_id > $4 AND order_id <= $5 GROUP BY order_id, menu_item_id) i ON i.order_id = o.id
LEFT JOIN hold h ON h.id = @hold_of
WHERE o.id > $4 AND o.id <= $5 AND o.biz_date >= $1 AND (CAST($3 AS BIGINT) = 0 OR o.branch_id = $3)
  AND ' ' || coalesce(h.lines, '') || ' ' NOT LIKE '% ' || i.menu_item_id || ':' || i.qty || ' %'
  AND NOT EXISTS (SELECT 1 FROM order_item p WHERE p.order_id = o.id AND p.options <> '')
ORDER BY o.id
LIMIT $2

-- name: drift_money
-- Finds violations of I6: for a PAID order, captured minus refunded is the unrefunded part of the total; for any other
-- order it is 0.
SELECT o.id, o.payment_status, o.total_amount, coalesce(p.captured, 0), coalesce(f.refunded, 0)
FROM order_info o
LEFT JOIN (SELECT order_id, sum(amount) AS captured FROM payment_attempt WHERE state = 'PAID' AND order_id > $4 AND order_id <= $5 GROUP BY order_id) p ON p.order_id = o.id
LEFT JOIN (SELECT order_id, sum(amount) AS refunded FROM refund WHERE order_id > $4 AND order_id <= $5 GROUP BY order_id) f ON f.order_id = o.id
WHERE o.id > $4 AND o.id <= $5 AND o.biz_date >= $1 AND (CAST($3 AS BIGINT) = 0 OR o.branch_id = $3)
  AND coalesce(p.captured, 0) - coalesce(f.refunded, 0) <> CASE o.payment_status WHEN 'PAID' THEN o.total_amount - o.refunded_amount ELSE 0 END
ORDER BY o.id
LIMIT $2

-- name: drift_orphans
-- Finds active holds without an order. Holds without a business date belong to other systems.
SELECT h.id, h.state
FROM hold h
WHERE h.id > $4 AND h.id <= $5 AND h.biz_date >= $1 AND (CAST($3 AS BIGINT) = 0 OR h.branch_id = $3) AND h.biz_date <> '' AND h.state IN ('HELD', 'CONFIRMED')
  AND NOT EXISTS (SELECT 1 FROM order_info o WHERE o.id = h.id)
  AND NOT EXISTS (SELECT 1 FROM order_info o WHERE o.hold_id = h.id AND o.hold_id <> o.id AND o.hold_id <> '')
ORDER BY h.id
LIMIT $2

-- name: drift_overdue
-- Finds violations of I10: an unpaid order expires within five seconds of its deadline.
SELECT x.id, x.expires_at
FROM (
    SELECT h.id, h.expires_at, h.branch_id FROM hold h WHERE h.biz_date <> '' AND h.state = 'HELD' AND h.expires_at < $1
    UNION ALL
    SELECT h.id, h.expires_at, h.branch_id FROM hold h WHERE h.biz_date = '' AND h.state = 'HELD' AND h.expires_at < $1
) AS x
WHERE CAST($3 AS BIGINT) = 0 OR x.branch_id = $3
ORDER BY x.expires_at
LIMIT $2

-- name: drift_parts
-- Returns the lines of orders that have options, and the lines of their holds.
SELECT o.id, i.menu_item_id, i.qty, i.options, coalesce(h.lines, '')
FROM order_info o
JOIN order_item i ON i.order_id = o.id
LEFT JOIN hold h ON h.id = @hold_of
WHERE o.id > $3 AND o.id <= $4 AND o.biz_date >= $1 AND (CAST($2 AS BIGINT) = 0 OR o.branch_id = $2)
  AND EXISTS (SELECT 1 FROM order_item p WHERE p.order_id = o.id AND p.options <> '')
ORDER BY o.id, i.line

-- name: drift_states
-- Finds orders whose payment status does not match the state of their hold.
SELECT o.id, o.status, o.payment_status, coalesce(h.state, 'none')
FROM order_info o
LEFT JOIN hold h ON h.id = @hold_of
WHERE o.id > $4 AND o.id <= $5 AND o.biz_date >= $1 AND (CAST($3 AS BIGINT) = 0 OR o.branch_id = $3) AND coalesce(h.state, 'none') <> CASE
    WHEN o.payment_status IN ('UNPAID', 'CONFIRMING') THEN 'HELD'
    WHEN o.payment_status = 'PAID' OR o.status <> 'CANCELED' THEN 'CONFIRMED'
    ELSE 'RELEASED' END
ORDER BY o.id
LIMIT $2

-- name: drift_window
-- Returns the last id of the next $2 orders after $1, or an empty text at the end.
SELECT coalesce(max(w.id), '') FROM (SELECT o.id FROM order_info o WHERE o.id > $1 ORDER BY o.id LIMIT $2) w

-- name: price_window
SELECT @order_columns
FROM order_info o
WHERE o.id > $1 AND o.id <= $2 AND o.biz_date >= $3
ORDER BY o.id
