SELECT id, aggregate, aggregate_id, aggregate_seq, branch_id, event_type, payload, created_at, available_at, attempts
FROM outbox_events
WHERE available_at <= $1
ORDER BY id
LIMIT $2
