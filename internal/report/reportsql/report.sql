-- name: dish_sales
SELECT s.dish_id, coalesce(d.names, '{}'), s.qty, s.gross
FROM (
    SELECT i.dish_id, CAST(sum(i.qty) AS BIGINT) AS qty, CAST(sum(i.qty * i.price_snapshot) AS BIGINT) AS gross
    FROM order_info o
    JOIN order_item i ON i.order_id = o.id
    WHERE o.branch_id = $1 AND o.biz_date >= $2 AND o.biz_date <= $3 AND o.paid_at IS NOT NULL
    GROUP BY i.dish_id
) s
LEFT JOIN dish d ON d.id = s.dish_id
ORDER BY s.gross DESC, s.qty DESC, s.dish_id

-- name: ended_days
SELECT t.biz_date, t.reason, count(*), CAST(sum(t.total_amount) AS BIGINT), CAST(sum(t.page) AS BIGINT),
       CAST(sum(t.page * t.total_amount) AS BIGINT)
FROM (
    SELECT o.biz_date, coalesce(o.cancel_reason, '') AS reason, o.total_amount,
           CASE WHEN EXISTS (
               SELECT 1 FROM payment_attempt a WHERE a.order_id = o.id AND a.redirect_url <> '' AND a.state <> 'PAID'
           ) THEN 1 ELSE 0 END AS page
    FROM order_info o
    WHERE o.branch_id = $1 AND o.biz_date >= $2 AND o.biz_date <= $3 AND o.status = 'CANCELED' AND o.paid_at IS NULL
) t
GROUP BY t.biz_date, t.reason
ORDER BY t.biz_date, t.reason

-- name: payment_attempts
-- An order without rows in payment_attempt has only the attempt that it was placed with.
SELECT coalesce(a.method, o.payment_method) AS method, coalesce(a.state, 'CREATED') AS state, count(*),
       CAST(sum(coalesce(a.amount, o.total_amount)) AS BIGINT)
FROM order_info o
LEFT JOIN payment_attempt a ON a.order_id = o.id
WHERE o.branch_id = $1 AND o.biz_date >= $2 AND o.biz_date <= $3
GROUP BY coalesce(a.method, o.payment_method), coalesce(a.state, 'CREATED')
ORDER BY method, state

-- name: payment_failures
-- Reports of a success and repeated reports have other verdicts.
SELECT e.method, e.verdict, e.raw
FROM order_info o
JOIN payment_event e ON e.order_id = o.id
WHERE o.branch_id = $1 AND o.biz_date >= $2 AND o.biz_date <= $3
  AND e.verdict IN ('FAILED', 'CANCELED', 'REVIEW', 'AMOUNT_MISMATCH')
ORDER BY e.received_at DESC
LIMIT $4

-- name: quota_days
SELECT c.stat_date, c.menu_item_id, coalesce(d.names, '{}'), c.cap, c.held_qty, c.used_qty, coalesce(l.newest, 0)
FROM sales_quota_counter c
LEFT JOIN menu_item m ON m.id = c.menu_item_id
LEFT JOIN dish d ON d.id = m.dish_id
LEFT JOIN (
    SELECT o.biz_date, i.menu_item_id, max(o.created_at) AS newest
    FROM order_info o
    JOIN order_item i ON i.order_id = o.id
    WHERE o.branch_id = $1 AND o.biz_date >= $2 AND o.biz_date <= $3 AND o.status <> 'CANCELED'
    GROUP BY o.biz_date, i.menu_item_id
) l ON l.biz_date = c.stat_date AND l.menu_item_id = c.menu_item_id
WHERE c.branch_id = $1 AND c.stat_date >= $2 AND c.stat_date <= $3 AND c.slot_key = 'ALL_DAY' AND c.cap IS NOT NULL
ORDER BY c.stat_date, c.menu_item_id

-- name: refund_days
SELECT o.biz_date, f.method, f.reason, f.state, count(*), CAST(sum(f.amount) AS BIGINT)
FROM order_info o
JOIN refund f ON f.order_id = o.id
WHERE o.branch_id = $1 AND o.biz_date >= $2 AND o.biz_date <= $3
GROUP BY o.biz_date, f.method, f.reason, f.state
ORDER BY o.biz_date, f.method, f.reason, f.state

-- name: sales_cells
-- Local time is the instant plus the UTC offset of its period in $4. Day 0 of the Unix epoch was a Thursday.
SELECT (t.local / 86400000 + 3) % 7 + 1 AS weekday, t.local / 3600000 % 24 AS hour, count(*),
       CAST(sum(t.sale) AS BIGINT), CAST(coalesce(sum(t.sale * t.total_amount), 0) AS BIGINT)
FROM (
    SELECT o.created_at + z.shift AS local, o.total_amount, CASE WHEN o.paid_at IS NULL THEN 0 ELSE 1 END AS sale
    FROM order_info o
    JOIN @rows($4: starts int, ends int, shift int) AS z ON o.created_at >= z.starts AND o.created_at < z.ends
    WHERE o.branch_id = $1 AND o.biz_date >= $2 AND o.biz_date <= $3
) t
GROUP BY weekday, hour
ORDER BY weekday, hour

-- name: sales_days
SELECT o.biz_date, count(*),
       count(o.paid_at),
       CAST(sum(CASE WHEN o.paid_at IS NULL AND o.status = 'CANCELED' THEN 1 ELSE 0 END) AS BIGINT),
       CAST(sum(CASE WHEN o.paid_at IS NULL THEN 0 ELSE o.total_amount END) AS BIGINT),
       CAST(sum(CASE WHEN o.paid_at IS NULL THEN 0 ELSE o.refunded_amount END) AS BIGINT)
FROM order_info o
WHERE o.branch_id = $1 AND o.biz_date >= $2 AND o.biz_date <= $3
GROUP BY o.biz_date
ORDER BY o.biz_date

-- name: ticket_times
-- Takes the first acceptance of a ticket and the last time it became ready, because a recall makes it unready again. An
-- order without steps is no ticket.
SELECT o.biz_date, o.paid_at,
       coalesce(min(CASE WHEN s.from_status = 'PLACED' THEN s.at END), 0),
       coalesce(max(CASE WHEN s.to_status = 'READY' AND s.from_status NOT IN ('SERVED', 'COMPLETED') THEN s.at END), 0),
       coalesce(max(CASE WHEN s.to_status IN ('SERVED', 'COMPLETED') THEN s.at END), 0)
FROM order_info o
JOIN order_step s ON s.order_id = o.id
WHERE o.branch_id = $1 AND o.biz_date >= $2 AND o.biz_date <= $3 AND o.paid_at IS NOT NULL
GROUP BY o.id, o.biz_date, o.paid_at
