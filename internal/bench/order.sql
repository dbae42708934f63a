-- name: attempt_list
-- Attempts that orders were placed with. Ordered by creation time, so that neighbours in the list come from different
-- connections.
SELECT o.payment_ref, o.total_amount
FROM order_info o
WHERE o.branch_id = $1 AND o.biz_date = $2 AND o.created_at >= $3 AND o.payment_method = 'VNPAY' AND o.payment_status <> 'PAID'
ORDER BY o.id

-- name: backlog_check
-- Returns 0 once all committed changes are published and applied to Redis. It reads by the primary key: after a load the
-- tables contain mostly dead rows. An index scan marks their entries, so that the next one skips them. The check is part of
-- the measured processor time of PostgreSQL, so it must not read the log from its beginning.
SELECT (SELECT count(*) FROM (SELECT id FROM event_retry ORDER BY id LIMIT 1) AS e)
     + (SELECT count(*) FROM (
           SELECT l.id FROM event_log l WHERE l.position > (SELECT min(c.position) FROM event_cursor c) ORDER BY l.position LIMIT 1) AS n)
     + (SELECT count(*) FROM (SELECT id FROM redis_outbox ORDER BY id LIMIT 1) AS o)
     + (SELECT count(*) FROM (SELECT id FROM document_outbox ORDER BY id LIMIT 1) AS d)

-- name: batch_count
-- Counts holds and transactions: all holds of one transaction have the same created_at.
SELECT count(*), count(DISTINCT h.created_at)
FROM hold h
WHERE h.branch_id = $1 AND h.biz_date = $2 AND h.created_at >= $3

-- name: event_insert
INSERT INTO event_log (id, aggregate, aggregate_id, aggregate_seq, branch_id, event_type, payload, created_at)
SELECT r.id, 'order', r.order_id, 1, 9000, 'order.placed', r.payload, CAST($2 AS BIGINT)
FROM @rows($1: id text, order_id text, payload text) AS r

-- name: hold_insert
INSERT INTO hold (id, branch_id, biz_date, state, reason, digest, lines, expires_at, created_at, updated_at)
SELECT r.id, 9000, CAST($2 AS TEXT), 'HELD', '', '', r.lines, CAST($4 AS BIGINT), CAST($3 AS BIGINT), CAST($3 AS BIGINT)
FROM @rows($1: id text, lines text) AS r

-- name: ops_insert
INSERT INTO redis_outbox (id, branch_id, biz_date, ops, created_at) VALUES ($1, 9000, $2, $3, $4)

-- name: order_insert
INSERT INTO order_info (
    id, branch_id, kind, visit_id, guest_hash, menu_version_id, hold_id, client_txn_id, digest, biz_date, number, status,
    payment_status, payment_method, cancel_reason, total_amount, currency, pay_by, expires_at, paid_at, canceled_at,
    created_at, updated_at, version)
SELECT r.id, 9000, 'DINE_IN', CAST($5 AS TEXT), CAST($6 AS TEXT), 9000, '', r.key, r.digest, CAST($2 AS TEXT), r.number,
       'PLACED', 'UNPAID', 'COUNTER', NULL, 90000, 'VND', CAST($4 AS BIGINT), CAST($4 AS BIGINT), NULL, NULL,
       CAST($3 AS BIGINT), CAST($3 AS BIGINT), 1
FROM @rows($1: id text, key text, digest text, number int) AS r

-- name: order_item_insert
INSERT INTO order_item (order_id, line, menu_item_id, dish_id, name_id, price_snapshot, qty, notes)
SELECT r.id, r.line, r.item, r.item, r.item, 30000, 1, ''
FROM @rows($1: id text, line int, item int) AS r

-- name: paid_count
SELECT count(*)
FROM payment_attempt a
JOIN order_info o ON o.id = a.order_id
WHERE o.branch_id = $1 AND o.biz_date = $2 AND a.created_at >= $3 AND a.method = 'VNPAY' AND a.state = 'PAID'
