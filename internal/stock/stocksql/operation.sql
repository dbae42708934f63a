-- name: ops_count
SELECT count(*), coalesce(min(created_at), 0) FROM redis_outbox WHERE dead_at IS NULL

-- name: ops_count_dead
SELECT count(*), coalesce(min(dead_at), 0) FROM redis_outbox WHERE dead_at IS NOT NULL

-- name: ops_dead
SELECT id, branch_id, biz_date, ops, created_at, dead_at, coalesce(error, '')
FROM redis_outbox
WHERE dead_at IS NOT NULL AND (CAST($1 AS TEXT) = '' OR id = $1)
ORDER BY dead_at DESC, id DESC
LIMIT $2 OFFSET $3

-- name: ops_dead_total
SELECT count(*) FROM redis_outbox WHERE dead_at IS NOT NULL AND (CAST($1 AS TEXT) = '' OR id = $1)

-- name: ops_deadline_move
-- An entry is not applied before it was written, nor before it is due.
UPDATE redis_outbox SET created_at = created_at + $1, due_at = CASE due_at WHEN 0 THEN 0 ELSE due_at + $1 END
WHERE dead_at IS NULL

-- name: ops_delete
-- The array keeps PostgreSQL on the index: it may have seen the table when it was empty.
DELETE FROM redis_outbox WHERE id /*pg: = ANY ($1) *//*sqlite: IN (SELECT id FROM @rows($1: id text)) */

-- name: ops_delete_scope
-- Some at a time: after hours without Redis there may be millions.
DELETE FROM redis_outbox
WHERE id IN (SELECT o.id FROM redis_outbox o WHERE o.branch_id = $1 AND o.biz_date = $2 ORDER BY o.id LIMIT $3)

-- name: ops_insert
INSERT INTO redis_outbox (id, branch_id, biz_date, ops, created_at)
SELECT r.id, r.branch_id, r.biz_date, r.ops, CAST($2 AS BIGINT)
FROM @rows($1: id text, branch_id int, biz_date text, ops text) AS r

-- name: ops_postpone
UPDATE redis_outbox
SET attempts = r.was + 1, due_at = r.due_at, error = r.error, dead_at = CASE WHEN r.dead = 1 THEN CAST($2 AS BIGINT) END
FROM @rows($1: id text, was int, due_at int, dead int, error text) AS r
WHERE redis_outbox.id = r.id AND redis_outbox.attempts = r.was AND redis_outbox.dead_at IS NULL

-- name: ops_revive
UPDATE redis_outbox SET attempts = 0, due_at = 0, dead_at = NULL
WHERE dead_at IS NOT NULL AND ($1 = '' OR id = $1)

-- name: ops_select
SELECT id, branch_id, biz_date, ops, created_at, attempts
FROM redis_outbox
WHERE created_at <= $1 AND due_at <= $1 AND dead_at IS NULL AND id > $2
ORDER BY id
LIMIT $3

-- name: ops_select_scope
SELECT id, branch_id, biz_date, ops, created_at, attempts
FROM redis_outbox
WHERE branch_id = $1 AND biz_date = $2
ORDER BY id
LIMIT $3
