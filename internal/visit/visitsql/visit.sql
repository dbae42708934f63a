-- fragment: visit_columns
v.id, v.branch_id, v.table_id, t.label, v.biz_date, v.status, v.opened_at, v.last_seen_at,
v.closed_at, v.close_reason, v.called_bill, v.called_help, v.called_water,
(SELECT COUNT(*) FROM visit_guest g WHERE g.visit_id = v.id)

-- name: guest_insert
INSERT INTO visit_guest (token_hash, visit_id, created_at) VALUES ($1, $2, $3)

-- name: guest_select
SELECT g.visit_id, v.branch_id, v.table_id, v.status, v.closed_at, v.close_reason
FROM visit_guest g
JOIN visit v ON v.id = g.visit_id
WHERE g.token_hash = $1

-- name: visit_keys_deleted
UPDATE visit SET keys_left = 0
WHERE keys_left = 1 AND closed_at <= $2 AND id IN (SELECT r.id FROM @rows($1: id text) AS r)

-- name: visit_keys_stale
SELECT id FROM visit WHERE keys_left = 1 ORDER BY closed_at LIMIT $1

-- name: visit_answer
-- An empty reason ends all calls.
UPDATE visit
SET called_bill = CASE WHEN CAST($2 AS TEXT) IN ('', 'BILL') THEN NULL ELSE called_bill END,
    called_help = CASE WHEN $2 IN ('', 'HELP') THEN NULL ELSE called_help END,
    called_water = CASE WHEN $2 IN ('', 'WATER') THEN NULL ELSE called_water END
WHERE id = $1

-- name: visit_at
SELECT id FROM visit WHERE table_id = $1 AND status = 'OPEN'

-- name: visit_call
-- A repeated call changes no row, so the first call's time stays.
UPDATE visit
SET called_bill = CASE WHEN CAST($2 AS TEXT) = 'BILL' THEN CAST($3 AS BIGINT) ELSE called_bill END,
    called_help = CASE WHEN $2 = 'HELP' THEN CAST($3 AS BIGINT) ELSE called_help END,
    called_water = CASE WHEN $2 = 'WATER' THEN CAST($3 AS BIGINT) ELSE called_water END
WHERE id = $1 AND status = 'OPEN'
  AND CASE $2 WHEN 'BILL' THEN called_bill WHEN 'HELP' THEN called_help ELSE called_water END IS NULL

-- name: visit_close
UPDATE visit SET status = 'CLOSED', closed_at = $3, close_reason = $2, keys_left = 1
WHERE id = $1 AND status = 'OPEN'

-- name: visit_close_idle
-- Closes visits without unpaid orders that were idle for the branch's auto_close_minutes plus the slack. $1 is now minus
-- the slack.
UPDATE visit SET status = 'CLOSED', closed_at = $2, close_reason = 'IDLE', keys_left = 1
WHERE id IN (
    SELECT v.id
    FROM visit v
    JOIN branch b ON b.id = v.branch_id
    WHERE v.status = 'OPEN'
      AND v.last_seen_at <= CAST($1 AS BIGINT) - b.auto_close_minutes * 60000
      AND NOT EXISTS (
          SELECT 1 FROM order_info o WHERE o.visit_id = v.id AND o.payment_status IN ('UNPAID', 'CONFIRMING')
      )
    ORDER BY v.last_seen_at
    LIMIT $3
    /*pg: FOR UPDATE OF v SKIP LOCKED */
)
RETURNING branch_id, id

-- name: visit_close_table
UPDATE visit SET status = 'CLOSED', closed_at = $3, close_reason = $2, keys_left = 1
WHERE table_id = $1 AND status = 'OPEN'
RETURNING id

-- name: visit_count
-- $2 is empty or a status.
SELECT COUNT(*) FROM visit v WHERE v.branch_id = $1 AND (CAST($2 AS TEXT) = '' OR v.status = $2)

-- name: visit_count_open
-- The plus keeps SQLite from reading all visits of the branch, see visit_list_open.
SELECT COUNT(*) FROM visit v WHERE /*sqlite: + */v.branch_id = $1 AND v.status = 'OPEN'

-- name: visit_deadline_move
-- Moves the times of open visits and their calls with the clock, so that their ages stay the same.
UPDATE visit
SET opened_at = opened_at + $1, last_seen_at = last_seen_at + $1, called_bill = called_bill + $1,
    called_help = called_help + $1, called_water = called_water + $1
WHERE status = 'OPEN'

-- name: visit_join
-- Prevents other transactions from closing the visit until the guest is added.
SELECT id FROM visit WHERE table_id = $1 AND status = 'OPEN' /*pg: FOR SHARE */

-- name: visit_list
SELECT @visit_columns
FROM visit v
JOIN dining_table t ON t.id = v.table_id
WHERE v.branch_id = $1 AND (CAST($2 AS TEXT) = '' OR v.status = $2)
ORDER BY v.opened_at DESC, v.id DESC
LIMIT $3 OFFSET $4

-- name: visit_list_open
-- Few visits are open, and some indexes have these only. The plus makes SQLite use one of them instead of visit_branch.
SELECT @visit_columns
FROM visit v
JOIN dining_table t ON t.id = v.table_id
WHERE /*sqlite: + */v.branch_id = $1 AND v.status = 'OPEN'
ORDER BY v.opened_at DESC, v.id DESC
LIMIT $2 OFFSET $3

-- name: visit_lock
SELECT id FROM visit WHERE id = $1 /*pg: FOR NO KEY UPDATE */

-- name: visit_move
UPDATE visit SET table_id = $2 WHERE id = $1

-- name: visit_open
-- The unique index on open visits admits one of several concurrent inserts. The others insert no row and join the visit.
INSERT INTO visit (id, branch_id, table_id, biz_date, status, opened_at, last_seen_at)
VALUES ($1, $2, $3, $4, 'OPEN', $5, $5)
ON CONFLICT (table_id) WHERE status = 'OPEN' DO NOTHING

-- name: visit_seen
-- PostgreSQL locks the visits by id, because the processes that their guests use write the same visits at the same time.
UPDATE visit SET last_seen_at = r.at
FROM @rows($1: id text, at int) AS r
WHERE visit.id = r.id AND visit.status = 'OPEN' AND visit.last_seen_at < r.at
/*pg: AND visit.id IN (
    SELECT v.id
    FROM visit v
    JOIN @rows($1: id text, at int) AS s ON s.id = v.id AND v.last_seen_at < s.at
    WHERE v.status = 'OPEN'
    ORDER BY v.id
    FOR NO KEY UPDATE OF v
)*/

-- name: visit_select
SELECT @visit_columns
FROM visit v
JOIN dining_table t ON t.id = v.table_id
WHERE v.id = $1
