-- fragment: reservation_matches
FROM hold h
WHERE h.branch_id = $1 AND h.biz_date = ''
  AND (CAST($2 AS TEXT) = '' OR h.state = $2)
  AND (CAST($3 AS TEXT) = '' OR h.reason = $3)

-- name: early_insert
INSERT INTO early_confirm (hold_id, created_at)
SELECT r.id, CAST($2 AS BIGINT) FROM @rows($1: id text) AS r
WHERE true
ORDER BY r.id
ON CONFLICT DO NOTHING

-- name: early_purge
DELETE FROM early_confirm WHERE created_at < $1

-- name: early_select
SELECT e.hold_id FROM early_confirm e JOIN @rows($1: id text) AS r ON e.hold_id = r.id

-- name: reservation_count
-- An empty text disables a filter.
SELECT count(*)
@reservation_matches

-- name: reservation_late
-- Counts the reservations past their deadline, and returns the earliest deadline.
SELECT count(*), coalesce(min(h.expires_at), 0) FROM hold h WHERE h.biz_date = '' AND h.state = 'HELD' AND h.expires_at <= $1

-- name: reservation_list
-- An empty text disables a filter.
SELECT h.id, h.created_at, h.updated_at
@reservation_matches
ORDER BY h.updated_at DESC, h.id
LIMIT $4 OFFSET $5

-- name: reservation_lock
SELECT h.id, h.state, coalesce(h.reason, '')
FROM hold h
JOIN @rows($1: id text) AS r ON h.id = r.id
ORDER BY h.id
/*pg: FOR UPDATE OF h*/

-- name: reservation_overdue
-- Returns the overdue reservations, the oldest first, and then those whose early confirmation was stored while they were
-- being created. CROSS JOIN keeps SQLite from reading all holds.
SELECT l.id FROM (
    SELECT h.id FROM hold h WHERE h.biz_date = '' AND h.state = 'HELD' AND h.expires_at <= $1 ORDER BY h.expires_at LIMIT $2
) AS l
UNION ALL
SELECT h.id FROM early_confirm e /*sqlite: CROSS*/ JOIN hold h ON h.id = e.hold_id WHERE h.state = 'HELD'

-- name: reservation_reason
SELECT h.id, coalesce(h.reason, '')
FROM hold h
JOIN @rows($1: id text) AS r ON h.id = r.id
WHERE h.reason <> ''
