-- name: scope_claim
-- Claims a scope for one rebuild until $4. A stored claim that ends after $5 dates from before the clock was set back and
-- does not count.
UPDATE gate_scope SET rebuilt_until = $4
WHERE branch_id = $1 AND biz_date = $2 AND (rebuilt_until < $3 OR rebuilt_until > $5)

-- name: scope_claim_end
SELECT rebuilt_until FROM gate_scope WHERE branch_id = $1 AND biz_date = $2

-- name: scope_insert
INSERT INTO gate_scope (branch_id, biz_date, epoch, rebuilt_until) VALUES ($1, $2, '', 0)
ON CONFLICT DO NOTHING

-- name: scope_release
-- Ends a claim. The next rebuild may begin after $5.
UPDATE gate_scope SET rebuilt_until = $5, epoch = $4
WHERE branch_id = $1 AND biz_date = $2 AND rebuilt_until = $3

-- name: scope_renew
-- Extends a claim, which is identified by its end.
UPDATE gate_scope SET rebuilt_until = $4
WHERE branch_id = $1 AND biz_date = $2 AND rebuilt_until = $3

-- name: scope_reset
-- Ends all claims and pauses, so that every scope may be rebuilt at once.
UPDATE gate_scope SET rebuilt_until = 0, epoch = '' WHERE biz_date >= $1 OR biz_date = ''

-- name: scope_select
SELECT branch_id, biz_date, epoch FROM gate_scope WHERE biz_date >= $1 OR biz_date = '' ORDER BY branch_id, biz_date

-- fragment: ops_columns
id, branch_id, biz_date, ops, created_at, attempts

-- name: ops_dead
SELECT id, branch_id, biz_date, ops, created_at, dead_at, coalesce(error, '')
@ops_dead_matches
ORDER BY dead_at DESC, id DESC
LIMIT $2 OFFSET $3

-- name: ops_dead_total
SELECT count(*)
@ops_dead_matches

-- fragment: ops_dead_matches
FROM redis_outbox
WHERE dead_at IS NOT NULL AND (CAST($1 AS TEXT) = '' OR id = $1)

-- name: ops_deadline_move
-- Moves both times, because ops_select returns no entry before its created_at or its due_at.
UPDATE redis_outbox SET created_at = created_at + $1, due_at = CASE due_at WHEN 0 THEN 0 ELSE due_at + $1 END
WHERE dead_at IS NULL

-- name: ops_delete_scope
-- Deletes $3 entries at a time: after hours without Redis there may be millions.
DELETE FROM redis_outbox
WHERE id IN (SELECT o.id FROM redis_outbox o WHERE o.branch_id = $1 AND o.biz_date = $2 ORDER BY o.id LIMIT $3)

-- name: ops_insert
INSERT INTO redis_outbox (id, branch_id, biz_date, ops, created_at)
SELECT r.id, r.branch_id, r.biz_date, r.ops, r.created_at
FROM @rows($1: id text, branch_id int, biz_date text, ops text, created_at int) AS r

-- name: ops_retry_dead
UPDATE redis_outbox SET attempts = 0, due_at = 0, dead_at = NULL
WHERE dead_at IS NOT NULL AND ($1 = '' OR id = $1)

-- name: ops_select
SELECT @ops_columns
FROM redis_outbox
WHERE created_at <= $1 AND due_at <= $1 AND dead_at IS NULL AND id > $2
ORDER BY id
LIMIT $3

-- name: ops_select_scope
SELECT @ops_columns
FROM redis_outbox
WHERE branch_id = $1 AND biz_date = $2
ORDER BY id
LIMIT $3

-- name: drift_counters
SELECT c.branch_id, c.stat_date, c.menu_item_id, c.held_qty, c.used_qty
FROM sales_quota_counter c
WHERE c.stat_date >= $1 AND (CAST($2 AS BIGINT) = 0 OR c.branch_id = $2) AND c.slot_key = 'ALL_DAY'
ORDER BY c.branch_id, c.stat_date, c.menu_item_id

-- name: drift_inventory
SELECT v.branch_id, v.item_id, i.sku, v.available, v.reserved, v.sold, coalesce(a.units, 0)
FROM inventory v
JOIN stock_item i ON i.id = v.item_id
LEFT JOIN (SELECT item_id, sum(units) AS units FROM stock_adjustment GROUP BY item_id) a ON a.item_id = v.item_id
WHERE CAST($1 AS BIGINT) = 0 OR v.branch_id = $1
ORDER BY v.branch_id, i.sku

-- name: drift_holds
-- Returns the active holds of a window of ids. Orders before a business date are included if they take stock items, which
-- have no date: their lines contain an s.
SELECT h.branch_id, h.biz_date, h.state, h.lines
FROM hold h
WHERE h.id > $3 AND h.id <= $4 AND h.state IN ('HELD', 'CONFIRMED')
  AND (CAST($2 AS BIGINT) = 0 OR h.branch_id = $2) AND (h.biz_date >= $1 OR h.lines LIKE '%s%')

-- name: drift_window
-- Returns the last id of the next $2 holds after $1, or an empty text at the end.
SELECT coalesce(max(w.id), '') FROM (SELECT h.id FROM hold h WHERE h.id > $1 ORDER BY h.id LIMIT $2) w
