SELECT id, aggregate, aggregate_id, aggregate_seq, branch_id, event_type, payload, created_at,
       consumer_name, reason, died_at
FROM dead_event
WHERE consumer_name = $1 AND ($2 = '' OR event_type = $2) AND ($3 = '' OR id = $3) AND id > $4
ORDER BY id
LIMIT $5
