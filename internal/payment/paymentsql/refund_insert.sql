INSERT INTO refund (
    id, order_id, attempt_id, method, amount, currency, state, reason, note, decided_by, portal_ref, send_at, created_at,
    done_at, client_txn_id)
SELECT r.id, r.order_id, r.attempt_id, r.method, r.amount, r.currency, r.state, r.reason, r.note, r.decided_by,
       r.portal_ref, r.send_at, r.created_at, r.done_at, r.client_txn_id
FROM @rows($1: id text, order_id text, attempt_id text, method text, amount int, currency text, state text, reason text, note text, decided_by text, portal_ref text, send_at int, created_at int, done_at int, client_txn_id text) AS r
