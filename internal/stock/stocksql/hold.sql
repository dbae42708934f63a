-- fragment: hold_columns
h.id, h.branch_id, h.biz_date, h.state, h.expires_at, h.lines

-- name: hold_deadline_move
-- Moves the deadlines of orders and of other systems' reservations. $1 is the step of the clock.
-- The two conditions are those of the indexes hold_due and hold_reservation_due.
UPDATE hold SET expires_at = expires_at + $1
WHERE id IN (
    SELECT h.id FROM hold h WHERE h.biz_date <> '' AND h.state = 'HELD'
    UNION ALL
    SELECT h.id FROM hold h WHERE h.biz_date = '' AND h.state = 'HELD')

-- name: hold_extend
UPDATE hold SET expires_at = r.until
FROM @rows($1: id text, until int) AS r
WHERE hold.id = r.id AND hold.expires_at < r.until

-- name: hold_ids
-- Returns the ids of the holds of a business date that are held or have changed since an instant.
SELECT h.id
FROM hold h
WHERE h.branch_id = $1 AND h.biz_date = $2 AND (h.state = 'HELD' OR h.updated_at >= $3)
ORDER BY h.id

-- name: hold_insert
-- The column digest is not read: the lines identify the content of a hold.
INSERT INTO hold (id, branch_id, biz_date, state, reason, digest, lines, expires_at, created_at, updated_at)
SELECT r.id, r.branch_id, r.biz_date, r.state, r.reason, '', r.lines, r.expires_at, CAST($2 AS BIGINT), CAST($2 AS BIGINT)
FROM @rows($1: id text, branch_id int, biz_date text, state text, reason text, lines text, expires_at int) AS r

-- name: hold_late
-- Counts the orders past their deadline, and returns the earliest deadline.
SELECT count(*), coalesce(min(h.expires_at), 0) FROM hold h WHERE h.biz_date <> '' AND h.state = 'HELD' AND h.expires_at <= $1

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

-- name: hold_open
-- Returns the unpaid holds of a business date.
SELECT @hold_columns
FROM hold h
WHERE h.branch_id = $1 AND h.biz_date = $2 AND h.state = 'HELD'

-- name: hold_select
SELECT @hold_columns
FROM hold h
JOIN @rows($1: id text) AS r ON h.id = r.id
ORDER BY h.id

-- name: hold_tombstone
-- A late order transaction with the same id then fails on the primary key (I12).
INSERT INTO hold (id, branch_id, biz_date, state, reason, digest, expires_at, created_at, updated_at)
SELECT r.id, r.branch_id, r.biz_date, 'RELEASED', 'LEASE_ENDED', '', CAST($2 AS BIGINT), CAST($2 AS BIGINT), CAST($2 AS BIGINT)
FROM @rows($1: id text, branch_id int, biz_date text) AS r
WHERE true
ORDER BY r.id
ON CONFLICT DO NOTHING
