INSERT INTO outbox_events (id, aggregate, aggregate_id, aggregate_seq, branch_id, event_type, payload, created_at,
                           available_at, attempts)
SELECT r.id, 'order', r.order_id, 1, 9000, 'order.placed', r.payload, CAST($2 AS BIGINT), 0, 0
FROM @rows($1: id text, order_id text, payload text) AS r
