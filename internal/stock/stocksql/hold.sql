-- name: hold_count_item
-- Counts the unpaid holds of a menu item on a business date, and their units.
SELECT COUNT(*), COALESCE(SUM(l.qty), 0)
FROM hold h
JOIN hold_line l ON l.hold_id = h.id AND l.stock = 0 AND l.item_id = $3
WHERE h.branch_id = $1 AND h.biz_date = $2 AND h.state = 'HELD'

-- name: hold_deadline_move
-- Moves the deadlines of orders and of other systems' reservations. $1 is the step of the clock.
UPDATE hold SET expires_at = expires_at + $1 WHERE state = 'HELD'

-- name: hold_extend
UPDATE hold SET expires_at = r.until
FROM @rows($1: id text, until int) AS r
WHERE hold.id = r.id AND hold.expires_at < r.until

-- name: hold_insert
INSERT INTO hold (id, branch_id, biz_date, state, reason, digest, expires_at, created_at, updated_at)
SELECT r.id, r.branch_id, r.biz_date, r.state, r.reason, r.digest, r.expires_at, CAST($2 AS BIGINT), CAST($2 AS BIGINT)
FROM @rows($1: id text, branch_id int, biz_date text, state text, reason text, digest text, expires_at int) AS r

-- name: hold_late
-- Counts the orders past their deadline, and returns the earliest deadline.
SELECT count(*), coalesce(min(h.expires_at), 0) FROM hold h WHERE h.biz_date <> '' AND h.state = 'HELD' AND h.expires_at <= $1

-- name: hold_line_insert
INSERT INTO hold_line (hold_id, stock, item_id, qty)
SELECT r.hold_id, r.stock, r.item, r.qty
FROM @rows($1: hold_id text, stock int, item int, qty int) AS r

-- name: hold_lock
SELECT h.id, h.state
FROM hold h
JOIN @rows($1: id text) AS r ON h.id = r.id
ORDER BY h.id
/*pg: FOR UPDATE OF h*/

-- name: hold_move
-- Decides between concurrent payment, cancellation and expiry: only the first finds the state it expects (I4).
UPDATE hold
SET state = r.becomes, reason = r.reason, updated_at = $2
FROM @rows($1: id text, was text, becomes text, reason text) AS r
WHERE hold.id = r.id AND hold.state = r.was

-- name: hold_page
-- Returns one page of the holds of a business date in a state, with their lines of quotas ($7 = 0) or of stock items
-- ($7 = 1). A hold without such lines has one row without an item, so that the caller can tell a full page. The index
-- hold_scope has this order.
SELECT h.id, h.branch_id, h.biz_date, h.state, h.expires_at, l.stock, l.item_id, l.qty
FROM (
    SELECT a.id, a.branch_id, a.biz_date, a.state, a.expires_at FROM hold a
    WHERE a.branch_id = $1 AND a.biz_date = $2 AND a.state = $3 AND a.updated_at >= $4 AND a.id > $5
    ORDER BY a.id
    LIMIT $6
) AS h
LEFT JOIN hold_line l ON l.hold_id = h.id AND l.stock = $7
ORDER BY h.id, l.item_id

-- name: hold_select
SELECT h.id, h.branch_id, h.biz_date, h.state, h.expires_at, l.stock, l.item_id, l.qty
FROM hold h
JOIN @rows($1: id text) AS r ON h.id = r.id
LEFT JOIN hold_line l ON l.hold_id = h.id
ORDER BY h.id, l.stock, l.item_id

-- name: hold_tombstone
-- A late order transaction with the same id then fails on the primary key (I12).
INSERT INTO hold (id, branch_id, biz_date, state, reason, digest, expires_at, created_at, updated_at)
SELECT r.id, r.branch_id, r.biz_date, 'RELEASED', 'LEASE_ENDED', '', CAST($2 AS BIGINT), CAST($2 AS BIGINT), CAST($2 AS BIGINT)
FROM @rows($1: id text, branch_id int, biz_date text) AS r
WHERE true
ORDER BY r.id
ON CONFLICT DO NOTHING
