-- name: cursor_lock
-- Returns no row while another relay has the lock.
SELECT position, published_until FROM event_cursor WHERE id = 1 /*pg: FOR UPDATE SKIP LOCKED*/

-- name: cursor_move
UPDATE event_cursor SET position = $2 WHERE id = 1 AND position = $1

-- name: cursor_reserve
-- Skips the row while another relay has locked it, so that a round never waits for that relay's broker.
UPDATE event_cursor
SET published_until = $2
WHERE id IN (SELECT id FROM event_cursor WHERE id = 1 AND position = $1 AND published_until < $2 /*pg: FOR UPDATE SKIP LOCKED*/)

-- name: event_append
-- PostgreSQL: sequences number rows before the commit, so an event may become visible after one with a higher position.
-- Each transaction holds a lock whose key contains a position before its own. relay_state reads these keys, and the relay
-- does not read behind the lowest one. The key starts with the 16 bits 0x4576. The position is read by the function, under
-- the sequence's lock: a SELECT from the sequence can see a value that nextval writes for a moment and that is too high.
INSERT INTO event_log (id, aggregate, aggregate_id, aggregate_seq, branch_id, event_type, payload, created_at)
SELECT r.id, r.aggregate, r.aggregate_id, r.aggregate_seq, r.branch_id, r.event_type, r.payload, r.created_at
FROM /*pg: (WITH lock AS MATERIALIZED (
          SELECT count(pg_advisory_xact_lock_shared(
              (17782::bigint << 48) + coalesce(pg_sequence_last_value('event_log_position_seq'), 0))) AS held
      ) SELECT held FROM lock) AS l
CROSS JOIN */@rows($1: id text, aggregate text, aggregate_id text, aggregate_seq int, branch_id int, event_type text,
                 payload text, created_at int) AS r

-- name: event_page
SELECT id, aggregate, aggregate_id, aggregate_seq, branch_id, event_type, payload, created_at, position
FROM event_log
WHERE position > $1 AND position <= $2
ORDER BY position
LIMIT $3

-- name: event_purge
-- Deletes one page by position, so that created_at needs no index. Events that are not published yet stay.
DELETE FROM event_log
WHERE position > $1 AND position <= $2 AND created_at < $3 AND position <= (SELECT position FROM event_cursor)

-- name: event_purge_page
-- Returns the last position of the page after $1, or 0 at the end, which is the first page that has neither an event from
-- before $2 nor one from after $4. Times in the future are wrong, and older events may follow.
SELECT coalesce(CASE WHEN min(page.created_at) < $2 OR max(page.created_at) > $4 THEN max(page.position) END, 0)
FROM (SELECT position, created_at FROM event_log WHERE position > $1 ORDER BY position LIMIT $3) AS page

-- name: event_rate
-- Reads only the newest $2 events, so that the time does not grow with the log.
SELECT count(*)
FROM (SELECT created_at FROM event_log WHERE position <= (SELECT position FROM event_cursor) ORDER BY position DESC LIMIT $2) AS newest
WHERE newest.created_at >= $1

-- name: event_states
-- Reads only the newest $2 events, so that the time does not grow with the log. An event that was refused is in the log too.
SELECT newest.waiting, newest.taken - retried.n - refused.n, retried.n, dead.n
FROM (SELECT count(CASE WHEN l.position > c.position THEN 1 END) AS waiting,
             count(CASE WHEN l.position <= c.position THEN 1 END) AS taken
      FROM (SELECT position, created_at FROM event_log ORDER BY position DESC LIMIT $2) AS l
      CROSS JOIN event_cursor AS c
      WHERE l.created_at >= $1) AS newest
CROSS JOIN (SELECT count(*) AS n FROM event_retry WHERE created_at >= $1) AS retried
CROSS JOIN (SELECT count(*) AS n FROM dead_event WHERE consumer_name = '' AND created_at >= $1) AS refused
CROSS JOIN (SELECT count(*) AS n FROM dead_event WHERE died_at >= $1) AS dead

-- name: pending_count
SELECT p.event_type, count(*), min(p.created_at)
FROM (SELECT event_type, created_at FROM event_retry
      UNION ALL
      SELECT event_type, created_at FROM event_log WHERE position > (SELECT position FROM event_cursor)) AS p
GROUP BY p.event_type
ORDER BY p.event_type

-- name: relay_state
-- Returns the cursor, the last position that may be read, and 1 if an event is due for another attempt. On PostgreSQL each
-- position up to the highest visible one was given before the statement's snapshot, by a transaction that held its lock by
-- then. The locks are listed after the snapshot, so such a transaction is listed, or it has ended and the next statement
-- sees its events.
SELECT c.position, c.published_until,
       /*pg: least((SELECT coalesce(max(position), 0) FROM event_log),
                   (SELECT min(((l.classid::bigint & 65535) << 32) + l.objid::bigint)
                    FROM pg_locks l
                    WHERE l.locktype = 'advisory' AND l.objsubid = 1 AND l.classid::bigint >> 16 = 17782
                      AND l.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database())))*/
       /*sqlite: (SELECT coalesce(max(position), 0) FROM event_log)*/,
       CASE WHEN EXISTS (SELECT 1 FROM event_retry WHERE available_at <= $1) THEN 1 ELSE 0 END
FROM event_cursor c
WHERE c.id = 1

-- name: retry_deadline_move
-- Moves the events that wait for a retry; 0 is at once.
UPDATE event_retry SET available_at = available_at + $1 WHERE available_at > 0

-- name: retry_delete
-- With an array PostgreSQL uses the index, even if its statistics come from an empty table.
DELETE FROM event_retry WHERE id /*pg: = ANY ($1) *//*sqlite: IN (SELECT id FROM @rows($1: id text)) */ RETURNING id

-- name: retry_insert
INSERT INTO event_retry (id, aggregate, aggregate_id, aggregate_seq, branch_id, event_type, payload, created_at,
                         available_at, attempts)
SELECT r.id, r.aggregate, r.aggregate_id, r.aggregate_seq, r.branch_id, r.event_type, r.payload, r.created_at,
       r.available_at, r.attempts
FROM @rows($1: id text, aggregate text, aggregate_id text, aggregate_seq int, branch_id int, event_type text,
           payload text, created_at int, available_at int, attempts int) AS r

-- name: retry_select
SELECT id, aggregate, aggregate_id, aggregate_seq, branch_id, event_type, payload, created_at, available_at, attempts
FROM event_retry
WHERE available_at <= $1
ORDER BY id
LIMIT $2

-- name: retry_take
-- Other relays skip the rows that this one has locked. The CTE prevents PostgreSQL from evaluating LIMIT per row. With the
-- array it uses the index: the table fills and empties, so its statistics are useless.
WITH due AS MATERIALIZED (
    SELECT id FROM event_retry WHERE available_at <= $1 ORDER BY id LIMIT $2 /*pg: FOR UPDATE SKIP LOCKED*/
)
DELETE FROM event_retry WHERE id /*pg: = ANY (ARRAY(SELECT id FROM due)) *//*sqlite: IN (SELECT id FROM due) */
RETURNING id, aggregate, aggregate_id, aggregate_seq, branch_id, event_type, payload, created_at,
          available_at, attempts
