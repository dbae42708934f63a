-- name: orderDetail_find
SELECT order_id || '-' || CAST(line AS TEXT)
FROM order_item WHERE order_id = $1 ORDER BY line LIMIT $2 OFFSET $3

-- name: orderDetail_find_count
SELECT COUNT(*) FROM order_item WHERE order_id = $1

-- name: orderDetail_ids
SELECT order_id || '-' || CAST(line AS TEXT)
FROM order_item
WHERE (order_id, line) > ($1, $2)
ORDER BY order_id, line
LIMIT $3 OFFSET $4

-- name: orderDetail_select
-- Reads all lines of the orders: callers need most of them.
SELECT d.order_id || '-' || CAST(d.line AS TEXT), d.order_id, d.dish_id, d.menu_item_id, d.qty, d.price_snapshot, d.notes,
       NULLIF(d.options, ''), CAST(1 AS BIGINT)
FROM order_item d
WHERE d.order_id /*pg: = ANY ($1) *//*sqlite: IN (SELECT id FROM @rows($1: id text)) */

-- name: orderDetail_sizes_order
-- The alias makes PostgreSQL sort by the column instead of by the text.
SELECT CAST(t.order_id AS TEXT), COUNT(*) FROM order_item t WHERE t.order_id > $1 GROUP BY t.order_id ORDER BY t.order_id LIMIT $2

-- name: orderDetail_total
SELECT COUNT(*), coalesce(max(order_id), $1) FROM order_item WHERE order_id > $1

-- name: order_by_paymentRef
SELECT CAST(t.payment_ref AS TEXT), CAST(t.id AS TEXT) FROM order_info t JOIN @rows($1: value text) AS w ON t.payment_ref = w.value

-- name: order_days
SELECT DISTINCT branch_id, biz_date
FROM order_info
WHERE id /*pg: = ANY ($1) *//*sqlite: IN (SELECT id FROM @rows($1: id text)) */

-- name: order_find
SELECT id FROM order_info WHERE user_id = $1 ORDER BY id LIMIT $2 OFFSET $3

-- name: order_find_count
SELECT COUNT(*) FROM order_info WHERE user_id = $1

-- name: order_ids
SELECT id FROM order_info WHERE id > $1 ORDER BY id LIMIT $2 OFFSET $3

-- name: order_select
SELECT o.id, o.user_id, o.receiver_name, o.receiver_phone, o.receiver_address, o.receiver_email, o.receiver_note,
       o.total_amount, o.currency, o.status, o.payment_method, o.payment_status, o.payment_ref, o.cancel_reason, o.branch_id, o.kind,
       o.visit_id, o.biz_date, o.number, o.pay_by, o.paid_at, o.canceled_at, o.created_at, o.updated_at, o.version
FROM order_info o
WHERE o.id /*pg: = ANY ($1) *//*sqlite: IN (SELECT id FROM @rows($1: id text)) */

-- name: order_sizes_user
-- The alias makes PostgreSQL sort by the column instead of by the text.
SELECT CAST(t.user_id AS TEXT), COUNT(*) FROM order_info t WHERE t.user_id > $1 GROUP BY t.user_id ORDER BY t.user_id LIMIT $2

-- name: order_total
SELECT COUNT(*), coalesce(max(id), $1) FROM order_info WHERE id > $1
