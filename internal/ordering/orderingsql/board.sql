-- name: board_dishes
SELECT d.id, d.category_id FROM dish d JOIN @rows($1: id int) AS r ON d.id = r.id

-- name: board_select
-- Reads the three lists of a kitchen's board in one statement. tickets: open paid orders of the date $2, and of $3 if
-- paid since $4. served: orders served, completed or cleared as voided since $5. awaiting: open orders to be paid at
-- the counter. Most orders of a date are finished, so both lists of open orders share one read of the dates.
WITH open_orders AS MATERIALIZED (
    SELECT o.id
    FROM order_info o
    WHERE o.branch_id = $1 AND o.biz_date IN ($2, $3) AND o.status IN ('PLACED', 'ACCEPTED', 'PREPARING', 'READY')
      AND o.void_seen = 0
)
SELECT * FROM (
    SELECT 'tickets', @order_columns
    FROM open_orders
    /*sqlite: CROSS*/ JOIN order_info o ON o.id = open_orders.id
    WHERE o.payment_status IN ('PAID', 'REFUND_DUE', 'REFUNDED') AND (o.biz_date = $2 OR o.paid_at >= $4)
    ORDER BY o.paid_at, o.id
    LIMIT $6
) AS tickets
UNION ALL
SELECT * FROM (
    SELECT 'served', @order_columns
    FROM order_info o
    WHERE o.branch_id = $1 AND o.stepped_at >= $5 AND (o.status IN ('SERVED', 'COMPLETED') OR o.void_seen = 1)
    ORDER BY o.stepped_at DESC, o.id DESC
    LIMIT $6
) AS served
UNION ALL
SELECT * FROM (
    SELECT 'awaiting', @order_columns
    FROM open_orders
    /*sqlite: CROSS*/ JOIN order_info o ON o.id = open_orders.id
    WHERE o.payment_status = 'UNPAID' AND o.payment_method = 'COUNTER'
    ORDER BY o.created_at, o.id
    LIMIT $6
) AS awaiting

-- name: board_stations
SELECT c.id, c.names
FROM category c
WHERE EXISTS (SELECT 1 FROM menu_item m JOIN dish d ON d.id = m.dish_id WHERE m.branch_id = $1 AND d.category_id = c.id)
ORDER BY c.sort, c.id

-- name: board_tables
SELECT v.id, t.id, t.label
FROM visit v
JOIN dining_table t ON t.id = v.table_id
JOIN @rows($1: id text) AS r ON v.id = r.id

-- name: ticket_oldest
-- Reads the payment time of each branch's oldest open ticket. It skips business dates before $1 and payments before $2,
-- which the boards no longer show. CROSS JOIN keeps SQLite from reading all orders.
SELECT o.branch_id, min(o.paid_at)
FROM branch b
/*sqlite: CROSS*/ JOIN order_info o ON o.branch_id = b.id AND o.biz_date >= $1
WHERE o.status IN ('PLACED', 'ACCEPTED', 'PREPARING', 'READY') AND o.void_seen = 0 AND o.payment_status = 'PAID' AND o.paid_at >= $2
GROUP BY o.branch_id

-- name: ready_times
-- Limits the orders before it reads their steps, because a busy branch has many orders per hour.
SELECT max(s.at) - o.paid_at
FROM (
    SELECT id, paid_at FROM order_info
    WHERE branch_id = $1 AND stepped_at >= $2 AND paid_at IS NOT NULL AND payment_status = 'PAID'
      AND status IN ('READY', 'SERVED', 'COMPLETED')
    ORDER BY stepped_at DESC
    LIMIT $3
) AS o
JOIN order_step s ON s.order_id = o.id
WHERE s.to_status = 'READY' AND s.from_status NOT IN ('SERVED', 'COMPLETED')
GROUP BY o.id, o.paid_at
