-- name: history_attempt_insert
-- Rows of all tables repeat the order's id. Only length and age of an id matter to the measurement.
INSERT INTO payment_attempt (id, order_id, method, amount, currency, state, gateway_ref, created_at, settled_at)
SELECT o.id, o.id, 'COUNTER', o.total_amount, 'VND', 'PAID', '', o.created_at, o.paid_at
FROM order_info o
WHERE o.id >= $1 AND o.id <= $2
ORDER BY o.id

-- name: history_branch_insert
INSERT INTO branch (id, name, currency, timezone, biz_day_start_hour, locales, auto_close_minutes, created_at)
SELECT r.id, r.name, 'VND', 'Asia/Ho_Chi_Minh', 4, '["vi","en"]', 1440, CAST($2 AS BIGINT)
FROM @rows($1: id int, name text) AS r

-- name: history_checkpoint
/*pg: CHECKPOINT *//*sqlite: SELECT 0 */

-- name: history_counter_insert
INSERT INTO sales_quota_counter (branch_id, stat_date, menu_item_id, cap, used_qty)
SELECT o.branch_id, o.biz_date, i.menu_item_id, 1000000, sum(i.qty)
FROM order_info o
JOIN order_item i ON i.order_id = o.id
WHERE o.id >= $1 AND o.id <= $2
GROUP BY o.branch_id, o.biz_date, i.menu_item_id
ORDER BY o.branch_id, o.biz_date, i.menu_item_id

-- name: history_cursor_move
-- The events of the history are published.
UPDATE event_cursor SET position = (SELECT coalesce(max(position), 0) FROM event_log)

-- name: history_daybook_insert
INSERT INTO daybook (branch_id, biz_date, placed, paid, revenue)
SELECT o.branch_id, o.biz_date, count(*), count(*), sum(o.total_amount)
FROM order_info o
WHERE o.id >= $1 AND o.id <= $2
GROUP BY o.branch_id, o.biz_date

-- name: history_event_insert
-- Two events of every order. Ids of orders end in 0, 4, 8, c, g, k, o or s, so an id that ends in v is unused.
INSERT INTO event_log (id, aggregate, aggregate_id, aggregate_seq, branch_id, event_type, payload, created_at)
SELECT CASE t.seq WHEN 1 THEN o.id ELSE substr(o.id, 1, 25) || 'v' END, 'order', o.id, t.seq, o.branch_id, t.type,
       '{"orderId":"' || o.id || '","branchId":"' || o.branch_id || '","bizDate":"' || o.biz_date
           || '","totalAmount":' || o.total_amount || ',"currency":"VND"' || t.rest || '}',
       o.created_at + t.later
FROM order_info o
CROSS JOIN (SELECT 1 AS seq, 'order.placed' AS type, ',"payBy":"2026-02-26T05:15:00.123Z"' AS rest, 0 AS later
            UNION ALL SELECT 2, 'order.paid', '', 60000) AS t
WHERE o.id >= $1 AND o.id <= $2
ORDER BY o.id, t.seq

-- name: history_guest_insert
INSERT INTO visit_guest (token_hash, visit_id, created_at)
SELECT o.id || substr(o.id || o.id, 1, 38), o.id, o.created_at
FROM order_info o
WHERE o.id >= $1 AND o.id <= $2
ORDER BY o.id

-- name: history_hold_insert
INSERT INTO hold (id, branch_id, biz_date, state, reason, digest, lines, expires_at, created_at, updated_at)
SELECT o.id, o.branch_id, o.biz_date, 'CONFIRMED', '', '',
       (SELECT string_agg(i.menu_item_id || ':' || i.qty, ' ' ORDER BY i.menu_item_id) FROM order_item i WHERE i.order_id = o.id),
       o.expires_at, o.created_at, o.paid_at
FROM order_info o
WHERE o.id >= $1 AND o.id <= $2
ORDER BY o.id

-- name: history_item_insert
-- The lines of an order are three consecutive items of its branch's menu, so that every dish is sold.
INSERT INTO order_item (order_id, line, menu_item_id, dish_id, name_id, price_snapshot, qty, done_at)
SELECT o.id, l.line, m.id, m.dish_id, n.id, 30000, 1, o.stepped_at
FROM order_info o
CROSS JOIN (SELECT 1 AS line UNION ALL SELECT 2 UNION ALL SELECT 3) AS l
JOIN menu_item m ON m.id = o.branch_id * 1000 + (o.number * 3 + l.line) % 100
JOIN item_name n ON n.digest = 'history-' || m.dish_id
WHERE o.id >= $1 AND o.id <= $2
ORDER BY o.id, l.line

-- name: history_menu_insert
INSERT INTO menu (id, branch_id, name)
SELECT r.id, r.id, r.name
FROM @rows($1: id int, name text) AS r

-- name: history_item_name_insert
INSERT INTO item_name (digest, name, names)
SELECT 'history-' || d.dish_id, 'Phở bò số ' || d.dish_id,
       '{"en":"Beef noodle soup no. ' || d.dish_id || '","vi":"Phở bò số ' || d.dish_id || '"}'
FROM (SELECT DISTINCT dish_id FROM menu_item) AS d

-- name: history_menu_item_insert
INSERT INTO menu_item (id, menu_id, branch_id, dish_id, daily_quota)
SELECT r.id, r.branch_id, r.branch_id, r.dish_id, 1000000
FROM @rows($1: id int, branch_id int, dish_id int) AS r

-- name: history_number_insert
INSERT INTO order_number (branch_id, biz_date, last)
SELECT o.branch_id, o.biz_date, max(o.number)
FROM order_info o
WHERE o.id >= $1 AND o.id <= $2
GROUP BY o.branch_id, o.biz_date

-- name: history_order_exists
SELECT count(*) FROM (SELECT id FROM order_info LIMIT 1) AS o

-- name: history_order_insert
-- Paid at the counter after a minute, served after twenty.
INSERT INTO order_info (
    id, branch_id, kind, visit_id, guest_hash, menu_version_id, hold_id, client_txn_id, digest, biz_date, number, status,
    payment_status, payment_method, total_amount, currency, pay_by, expires_at, paid_at, created_at, updated_at, version,
    stepped_at)
SELECT r.id, r.branch_id, 'DINE_IN', r.id, substr(r.id, 7, 20), r.branch_id, '', 'history-' || r.id,
       substr(r.id, 1, 24), CAST($2 AS TEXT), r.number, 'SERVED', 'PAID', 'COUNTER', 90000, 'VND', r.at + 900000,
       r.at + 990000, r.at + 60000, r.at, r.at + 1200000, 6, r.at + 1200000
FROM @rows($1: id text, branch_id int, number int, at int) AS r

-- name: history_report_insert
INSERT INTO payment_event (id, attempt_id, order_id, method, source, raw, verdict, received_at)
SELECT o.id, o.id, o.id, 'COUNTER', 'STAFF', '{"method":"COUNTER"}', 'PAID', o.paid_at
FROM order_info o
WHERE o.id >= $1 AND o.id <= $2
ORDER BY o.id

-- name: history_size
/*pg: SELECT pg_database_size(current_database()) */
/*sqlite: SELECT c.page_count * s.page_size FROM pragma_page_count() AS c, pragma_page_size() AS s */

-- name: history_table_insert
INSERT INTO dining_table (branch_id, label)
SELECT r.id, 'B1'
FROM @rows($1: id int, name text) AS r

-- name: history_vacuum
/*pg: VACUUM (ANALYZE) *//*sqlite: SELECT 0 */

-- name: history_version_insert
INSERT INTO menu_version (id, menu_id, branch_id, number, status, created_at, published_at)
SELECT r.id, r.id, r.id, 1, 'PUBLISHED', CAST($2 AS BIGINT), CAST($2 AS BIGINT)
FROM @rows($1: id int, name text) AS r

-- name: history_version_item_insert
INSERT INTO menu_version_item (version_id, item_id, sort, price, daily_quota)
SELECT r.branch_id, r.id, r.id, 30000, 1000000
FROM @rows($1: id int, branch_id int, dish_id int) AS r

-- name: history_visit_insert
INSERT INTO visit (id, branch_id, table_id, biz_date, status, opened_at, last_seen_at, closed_at, close_reason)
SELECT o.id, o.branch_id, t.id, o.biz_date, 'CLOSED', o.created_at, o.updated_at, o.updated_at, 'STAFF'
FROM order_info o
JOIN dining_table t ON t.branch_id = o.branch_id
WHERE o.id >= $1 AND o.id <= $2
ORDER BY o.id

-- name: documents_ready
-- Returns 1 if the documents in Redis are completely built.
SELECT count(*) FROM document_plane WHERE epoch <> '' AND building = ''
