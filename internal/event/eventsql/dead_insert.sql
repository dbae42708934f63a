INSERT INTO dead_event (id, aggregate, aggregate_id, aggregate_seq, branch_id, event_type, payload, created_at,
                        consumer_name, reason, died_at)
SELECT r.id, r.aggregate, r.aggregate_id, r.aggregate_seq, r.branch_id, r.event_type, r.payload, r.created_at,
       r.consumer_name, r.reason, r.died_at
FROM @rows($1: id text, aggregate text, aggregate_id text, aggregate_seq int, branch_id int, event_type text,
           payload text, created_at int, consumer_name text, reason text, died_at int) AS r
WHERE true
ON CONFLICT (id, consumer_name) DO UPDATE SET reason = excluded.reason, died_at = excluded.died_at
