-- fragment: dead_columns
id, aggregate, aggregate_id, aggregate_seq, branch_id, event_type, payload, created_at,
consumer_name, reason, died_at

-- fragment: dead_matches
FROM dead_event
WHERE (CAST($1 AS BIGINT) = 1 OR consumer_name = $2) AND (CAST($3 AS TEXT) = '' OR event_type = $3)
  AND (CAST($4 AS TEXT) = '' OR id = $4)

-- name: dead_delete
DELETE FROM dead_event
WHERE id IN (SELECT r.id FROM @rows($1: id text) AS r) AND consumer_name = $2
RETURNING @dead_columns

-- name: dead_insert
INSERT INTO dead_event (@dead_columns)
SELECT r.id, r.aggregate, r.aggregate_id, r.aggregate_seq, r.branch_id, r.event_type, r.payload, r.created_at,
       r.consumer_name, r.reason, r.died_at
FROM @rows($1: id text, aggregate text, aggregate_id text, aggregate_seq int, branch_id int, event_type text,
           payload text, created_at int, consumer_name text, reason text, died_at int) AS r
WHERE true
ON CONFLICT (id, consumer_name) DO UPDATE SET reason = excluded.reason, died_at = excluded.died_at

-- name: dead_page
-- $1 = 1 selects all consumers. An empty text disables a filter.
SELECT @dead_columns
@dead_matches
ORDER BY died_at DESC, id DESC, consumer_name
LIMIT $5 OFFSET $6

-- name: dead_select
SELECT @dead_columns
FROM dead_event
WHERE consumer_name = $1 AND ($2 = '' OR event_type = $2) AND ($3 = '' OR id = $3) AND id > $4
ORDER BY id
LIMIT $5

-- name: dead_summary
SELECT consumer_name, count(*) FROM dead_event GROUP BY consumer_name ORDER BY consumer_name

-- name: dead_total
SELECT count(*)
@dead_matches
