-- name: log_insert
-- If two relays published an event, the log already has it.
INSERT INTO event_log (id, aggregate, aggregate_id, aggregate_seq, branch_id, event_type, payload, created_at,
                       published_at)
SELECT r.id, r.aggregate, r.aggregate_id, r.aggregate_seq, r.branch_id, r.event_type, r.payload, r.created_at, $2
FROM @rows($1: id text, aggregate text, aggregate_id text, aggregate_seq int, branch_id int, event_type text,
           payload text, created_at int) AS r
WHERE true
ON CONFLICT (id) DO NOTHING

-- name: log_page
-- Returns the last id of the page after $1, or an empty text at the end.
SELECT coalesce(max(page.id), '')
FROM (SELECT id FROM event_log WHERE id > $1 AND id < $2 ORDER BY id LIMIT $3) AS page

-- name: log_purge
-- Purges one page by id, so that published_at needs no index.
DELETE FROM event_log WHERE id > $1 AND id <= $2 AND published_at < $3

-- name: log_rate
-- Reads only the newest $2 events, so that the time does not grow with the log.
SELECT count(*) FROM (SELECT published_at FROM event_log ORDER BY id DESC LIMIT $2) AS newest WHERE newest.published_at >= $1

-- name: outbox_count
SELECT event_type, count(*), min(created_at) FROM outbox_events GROUP BY event_type ORDER BY event_type

-- name: outbox_deadline_move
-- Moves the events that wait for a retry; 0 is at once.
UPDATE outbox_events SET available_at = available_at + $1 WHERE available_at > 0

-- name: outbox_delete
-- With an array PostgreSQL uses the index, even if its statistics come from an empty table.
DELETE FROM outbox_events WHERE id /*pg: = ANY ($1) *//*sqlite: IN (SELECT id FROM @rows($1: id text)) */ RETURNING id

-- name: outbox_insert
INSERT INTO outbox_events (id, aggregate, aggregate_id, aggregate_seq, branch_id, event_type, payload, created_at,
                           available_at, attempts)
SELECT r.id, r.aggregate, r.aggregate_id, r.aggregate_seq, r.branch_id, r.event_type, r.payload, r.created_at,
       r.available_at, r.attempts
FROM @rows($1: id text, aggregate text, aggregate_id text, aggregate_seq int, branch_id int, event_type text,
           payload text, created_at int, available_at int, attempts int) AS r

-- name: outbox_select
SELECT id, aggregate, aggregate_id, aggregate_seq, branch_id, event_type, payload, created_at, available_at, attempts
FROM outbox_events
WHERE available_at <= $1
ORDER BY id
LIMIT $2

-- name: outbox_take
-- Other relays skip the rows that this one has locked. The CTE prevents PostgreSQL from evaluating LIMIT per row. With the
-- array it uses the index: the table fills and empties all day, so its statistics are useless.
WITH due AS MATERIALIZED (
    SELECT id FROM outbox_events WHERE available_at <= $1 ORDER BY id LIMIT $2 /*pg: FOR UPDATE SKIP LOCKED*/
)
DELETE FROM outbox_events WHERE id /*pg: = ANY (ARRAY(SELECT id FROM due)) *//*sqlite: IN (SELECT id FROM due) */
RETURNING id, aggregate, aggregate_id, aggregate_seq, branch_id, event_type, payload, created_at,
          available_at, attempts
