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
