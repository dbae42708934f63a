INSERT INTO payment_event (id, attempt_id, order_id, method, source, raw, headers, verdict, received_at)
SELECT r.id, r.attempt_id, r.order_id, r.method, r.source, r.raw, r.headers, r.verdict, r.received_at
FROM @rows($1: id text, attempt_id text, order_id text, method text, source text, raw text, headers text, verdict text, received_at int) AS r
