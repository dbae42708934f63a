-- $1 = 1 chooses all consumers; empty texts choose everything.
SELECT id, aggregate, aggregate_id, aggregate_seq, branch_id, event_type, payload, created_at,
       consumer_name, reason, died_at
FROM dead_event
WHERE (CAST($1 AS BIGINT) = 1 OR consumer_name = $2) AND (CAST($3 AS TEXT) = '' OR event_type = $3)
  AND (CAST($4 AS TEXT) = '' OR id = $4)
ORDER BY died_at DESC, id DESC, consumer_name
LIMIT $5 OFFSET $6
