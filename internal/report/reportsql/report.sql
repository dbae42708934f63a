-- name: cart_days
-- A visit whose cart began ended with an order, without one, or is open.
SELECT t.biz_date, count(*), CAST(sum(t.ordered) AS BIGINT),
       CAST(sum(CASE WHEN t.ordered = 0 AND t.status = 'CLOSED' THEN 1 ELSE 0 END) AS BIGINT)
FROM (
    SELECT c.biz_date, v.status,
           CASE WHEN EXISTS (SELECT 1 FROM order_info o WHERE o.visit_id = c.visit_id) THEN 1 ELSE 0 END AS ordered
    FROM cart_start c
    JOIN visit v ON v.id = c.visit_id
    WHERE c.branch_id = $1 AND c.biz_date >= $2 AND c.biz_date <= $3
) t
GROUP BY t.biz_date
ORDER BY t.biz_date

-- name: dish_interest
-- An order that has a dish on several lines counts once.
SELECT s.dish_id, coalesce(d.names, '{}'), s.viewed, s.added, s.orders
FROM (
    SELECT u.dish_id, CAST(sum(u.viewed) AS BIGINT) AS viewed, CAST(sum(u.added) AS BIGINT) AS added,
           CAST(sum(u.orders) AS BIGINT) AS orders
    FROM (
        SELECT v.dish_id, v.viewed, v.added, 0 AS orders
        FROM dish_view v
        WHERE v.branch_id = $1 AND v.biz_date >= $2 AND v.biz_date <= $3
        UNION ALL
        SELECT i.dish_id, 0, 0, count(DISTINCT o.id)
        FROM order_info o
        JOIN order_item i ON i.order_id = o.id
        WHERE o.branch_id = $1 AND o.biz_date >= $2 AND o.biz_date <= $3 AND o.paid_at IS NOT NULL
        GROUP BY i.dish_id
    ) u
    GROUP BY u.dish_id
) s
LEFT JOIN dish d ON d.id = s.dish_id
ORDER BY s.viewed DESC, s.orders DESC, s.dish_id

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

-- name: combo_orders
-- When combos were ordered last, by their options. These stand for other items, whose units the orders take.
SELECT o.biz_date, i.options, max(o.created_at)
FROM order_info o
JOIN order_item i ON i.order_id = o.id
WHERE o.branch_id = $1 AND o.biz_date >= $2 AND o.biz_date <= $3 AND o.status <> 'CANCELED' AND i.options LIKE '%"itemId":%'
GROUP BY o.biz_date, i.options

-- name: configured_sales
-- Portions with the same options are counted together. Only dishes that were sold with options are of interest.
SELECT t.dish_id, coalesce(d.names, '{}'), t.options, t.qty
FROM (
    SELECT i.dish_id, i.options, CAST(sum(i.qty) AS BIGINT) AS qty
    FROM order_info o
    JOIN order_item i ON i.order_id = o.id
    WHERE o.branch_id = $1 AND o.biz_date >= $2 AND o.biz_date <= $3 AND o.paid_at IS NOT NULL
    GROUP BY i.dish_id, i.options
) t
LEFT JOIN dish d ON d.id = t.dish_id
ORDER BY t.dish_id, t.options

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

-- name: group_names
SELECT g.id, g.names FROM option_group g

-- name: member_carts
SELECT c.updated_at, CAST(sum(l.quantity) AS BIGINT), CAST(sum(l.quantity * l.price) AS BIGINT)
FROM cart c
JOIN cart_detail l ON l.cart_id = c.id
WHERE c.branch_id = $1 AND c.updated_at >= $2 AND c.updated_at < $3
GROUP BY c.id, c.updated_at
ORDER BY c.updated_at, c.id

-- name: page_views
SELECT p.page, CAST(sum(p.opened) AS BIGINT)
FROM page_view p
WHERE p.branch_id = $1 AND p.biz_date >= $2 AND p.biz_date <= $3
GROUP BY p.page

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
-- The counter of an item that is off sale has the cap 0, which does not replace its quota. It stays 0 when the date ends, and
-- no table has the quota that the item had then: it is NULL for dates before $4, the current one. An item without a quota that
-- was off sale is not in the report. Counters of releases before migration 59 do not state whether their item was off: there
-- a cap of 0 is a quota only if the present one is 0 as well.
SELECT c.stat_date, c.menu_item_id, coalesce(d.names, '{}'),
       CASE WHEN c.off = 0 THEN c.cap WHEN c.stat_date >= $4 THEN c.daily_quota END, c.held_qty, c.used_qty, coalesce(l.newest, 0),
       c.off = 1
FROM (
    SELECT q.stat_date, q.menu_item_id, q.cap, q.held_qty, q.used_qty, m.dish_id, m.daily_quota,
           CASE WHEN q.cap > 0 THEN 0 ELSE coalesce(q.off, CASE WHEN m.daily_quota = 0 THEN 0 ELSE 1 END) END AS off
    FROM sales_quota_counter q
    LEFT JOIN menu_item m ON m.id = q.menu_item_id
    WHERE q.branch_id = $1 AND q.stat_date >= $2 AND q.stat_date <= $3 AND q.slot_key = 'ALL_DAY' AND q.cap IS NOT NULL
) c
LEFT JOIN dish d ON d.id = c.dish_id
LEFT JOIN (
    SELECT o.biz_date, i.menu_item_id, max(o.created_at) AS newest
    FROM order_info o
    JOIN order_item i ON i.order_id = o.id
    WHERE o.branch_id = $1 AND o.biz_date >= $2 AND o.biz_date <= $3 AND o.status <> 'CANCELED'
    GROUP BY o.biz_date, i.menu_item_id
) l ON l.biz_date = c.stat_date AND l.menu_item_id = c.menu_item_id
WHERE c.off = 0 OR c.daily_quota IS NOT NULL
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

-- name: searched_texts
SELECT d.query, CAST(sum(d.searches) AS BIGINT) AS searches, CAST(sum(d.missed) AS BIGINT)
FROM search_day d
WHERE d.branch_id = $1 AND d.biz_date >= $2 AND d.biz_date <= $3
GROUP BY d.query
ORDER BY searches DESC, d.query
LIMIT $4

-- name: taxed_orders
SELECT o.biz_date, o.total_amount, coalesce(o.quote, '')
FROM order_info o
WHERE o.branch_id = $1 AND o.biz_date >= $2 AND o.biz_date <= $3 AND o.paid_at IS NOT NULL
  AND (o.refunded_amount < o.total_amount OR o.total_amount = 0)

-- name: ticket_times
-- Takes the first acceptance of a ticket and the last time it became ready, because a recall makes it unready again. An
-- order without steps is not a ticket.
SELECT o.biz_date, o.paid_at,
       coalesce(min(CASE WHEN s.from_status = 'PLACED' THEN s.at END), 0),
       coalesce(max(CASE WHEN s.to_status = 'READY' AND s.from_status NOT IN ('SERVED', 'COMPLETED') THEN s.at END), 0),
       coalesce(max(CASE WHEN s.to_status IN ('SERVED', 'COMPLETED') THEN s.at END), 0)
FROM order_info o
JOIN order_step s ON s.order_id = o.id
WHERE o.branch_id = $1 AND o.biz_date >= $2 AND o.biz_date <= $3 AND o.paid_at IS NOT NULL
GROUP BY o.id, o.biz_date, o.paid_at
