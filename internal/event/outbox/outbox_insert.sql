INSERT INTO outbox_events (id, aggregate, aggregate_id, aggregate_seq, branch_id, event_type, payload, created_at,
                           available_at, attempts)
SELECT r.id, r.aggregate, r.aggregate_id, r.aggregate_seq, r.branch_id, r.event_type, r.payload, r.created_at,
       r.available_at, r.attempts
FROM @rows($1: id text, aggregate text, aggregate_id text, aggregate_seq int, branch_id int, event_type text,
           payload text, created_at int, available_at int, attempts int) AS r
