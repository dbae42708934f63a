-- fragment: refund_columns
f.id, f.order_id, f.attempt_id, f.method, f.amount, f.currency, f.state, f.reason, f.note, f.decided_by,
f.gateway_ref, f.portal_ref, f.code, coalesce(f.send_at, 0), f.tries, f.sent_before IS NOT NULL, coalesce(f.sent_before, ''),
f.created_at, coalesce(f.done_at, 0), coalesce(f.client_txn_id, '')

-- name: refund_deadline_move
-- Moves the times at which refunds are sent.
UPDATE refund SET send_at = send_at + $1 WHERE send_at IS NOT NULL

-- name: refund_due
-- Counts the unfinished refunds.
SELECT count(*), coalesce(min(created_at), 0) FROM refund WHERE state <> 'DONE'

-- name: refund_insert
INSERT INTO refund (
    id, order_id, attempt_id, method, amount, currency, state, reason, note, decided_by, portal_ref, send_at, created_at,
    done_at, client_txn_id)
SELECT r.id, r.order_id, r.attempt_id, r.method, r.amount, r.currency, r.state, r.reason, r.note, r.decided_by,
       r.portal_ref, r.send_at, r.created_at, r.done_at, r.client_txn_id
FROM @rows($1: id text, order_id text, attempt_id text, method text, amount int, currency text, state text, reason text, note text, decided_by text, portal_ref text, send_at int, created_at int, done_at int, client_txn_id text) AS r

-- name: refund_later
UPDATE refund
SET send_at = r.send_at, tries = tries + 1
FROM @rows($1: id text, send_at int) AS r
WHERE refund.id = r.id AND refund.state = 'SENDING'

-- name: refund_select
SELECT @refund_columns
FROM refund f
JOIN @rows($1: id text) AS r ON f.order_id = r.id
ORDER BY f.order_id, f.id

-- name: refund_send
-- Skips rows that another process has claimed. The refunds of one payment are sent one after the other: first those that
-- were already tried, then the oldest. The gateway's answer to one refund depends on the result of the one before, and a
-- resent old refund must not be mistaken for another that is in progress.
SELECT @refund_columns
FROM refund f
WHERE f.send_at <= $1 AND NOT EXISTS (
    SELECT 1 FROM refund e
    WHERE e.attempt_id = f.attempt_id AND e.state = 'SENDING' AND e.id <> f.id
      AND (e.tries > 0 AND f.tries = 0 OR (e.tries > 0) = (f.tries > 0) AND e.id < f.id))
ORDER BY f.send_at
LIMIT $2
/*pg: FOR UPDATE SKIP LOCKED*/

-- name: refund_sent
UPDATE refund SET sent_before = $2 WHERE id = $1 AND state = 'SENDING' AND sent_before IS NULL

-- name: refund_update
UPDATE refund
SET state = r.state, note = r.note, decided_by = r.decided_by, gateway_ref = r.ref, code = r.code, tries = r.tries,
    send_at = r.send_at, done_at = r.done_at
FROM @rows($1: id text, state text, note text, decided_by text, ref text, code text, tries int, send_at int, done_at int) AS r
WHERE refund.id = r.id AND refund.state <> 'DONE'
