DELETE FROM dead_event
WHERE id IN (SELECT r.id FROM @rows($1: id text) AS r) AND consumer_name = $2
RETURNING id, aggregate, aggregate_id, aggregate_seq, branch_id, event_type, payload, created_at,
          consumer_name, reason, died_at
