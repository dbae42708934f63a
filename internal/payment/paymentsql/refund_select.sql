SELECT f.id, f.order_id, f.attempt_id, f.method, f.amount, f.currency, f.state, f.reason, f.note, f.decided_by,
       f.gateway_ref, f.portal_ref, f.code, coalesce(f.send_at, 0), f.tries, f.sent_before IS NOT NULL, coalesce(f.sent_before, ''),
       f.created_at, coalesce(f.done_at, 0), coalesce(f.client_txn_id, '')
FROM refund f
JOIN @rows($1: id text) AS r ON f.order_id = r.id
ORDER BY f.order_id, f.id
