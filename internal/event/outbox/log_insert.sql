-- An event that was published by a slower relay too is in the log already.
INSERT INTO event_log (id, aggregate, aggregate_id, aggregate_seq, branch_id, event_type, payload, created_at,
                       published_at)
SELECT r.id, r.aggregate, r.aggregate_id, r.aggregate_seq, r.branch_id, r.event_type, r.payload, r.created_at, $2
FROM @rows($1: id text, aggregate text, aggregate_id text, aggregate_seq int, branch_id int, event_type text,
           payload text, created_at int) AS r
WHERE true
ON CONFLICT (id) DO NOTHING
