-- fragment: attempt_columns
a.id, a.order_id, a.method, a.amount, a.currency, a.state, a.gateway_ref, a.redirect_url, a.created_at,
coalesce(a.settled_at, 0), coalesce(a.check_at, 0), a.checks

-- name: attempt_age_move
-- Moves attempts of unpaid orders that were not sent to a gateway yet. A sent attempt keeps its time, because queries to
-- the gateway contain it.
UPDATE payment_attempt SET created_at = created_at + $1
WHERE state = 'CREATED' AND redirect_url = ''
  AND order_id IN (SELECT h.id FROM hold h WHERE h.state = 'HELD' AND h.biz_date <> '')

-- name: attempt_deadline_move
-- Moves the times of the next checks.
UPDATE payment_attempt SET check_at = check_at + $1 WHERE check_at IS NOT NULL

-- name: attempt_due
-- Skips rows that another process has claimed.
SELECT @attempt_columns
FROM payment_attempt a
WHERE a.check_at <= $1
ORDER BY a.check_at
LIMIT $2
/*pg: FOR UPDATE SKIP LOCKED*/

-- name: attempt_find
-- The first attempt of an order may have no row yet. Then its id is the order's reference at the gateway.
SELECT r.id, o.id, o.branch_id
FROM @rows($1: id text) AS r
JOIN payment_attempt a ON a.id = r.id
JOIN order_info o ON o.id = a.order_id
UNION
SELECT r.id, o.id, o.branch_id
FROM @rows($1: id text) AS r
JOIN order_info o ON o.payment_ref = r.id

-- name: attempt_later
UPDATE payment_attempt
SET check_at = r.check_at, checks = checks + 1
FROM @rows($1: id text, check_at int) AS r
WHERE payment_attempt.id = r.id

-- name: attempt_put
INSERT INTO payment_attempt (id, order_id, method, amount, currency, state, gateway_ref, redirect_url, created_at, settled_at, check_at)
SELECT r.id, r.order_id, r.method, r.amount, r.currency, r.state, r.ref, r.url, r.created_at, r.settled_at, r.check_at
FROM @rows($1: id text, order_id text, method text, amount int, currency text, state text, ref text, url text, created_at int, settled_at int, check_at int) AS r
WHERE true
ON CONFLICT (id) DO UPDATE
SET state = excluded.state, gateway_ref = excluded.gateway_ref, redirect_url = excluded.redirect_url,
    settled_at = excluded.settled_at, check_at = excluded.check_at
WHERE payment_attempt.state <> 'PAID'

-- name: attempt_select
-- An order without rows has only its first attempt, see ordering.Order.FirstAttempt.
SELECT @attempt_columns
FROM payment_attempt a
JOIN @rows($1: id text) AS r ON a.order_id = r.id
ORDER BY a.order_id, a.id

-- name: attempt_stuck
-- A capture that is under way counts only if it began before $1.
SELECT state, count(*)
FROM payment_attempt
WHERE state IN ('REVIEW', 'UNKNOWN', 'CONFIRMING') AND (state <> 'CONFIRMING' OR created_at < $1)
GROUP BY state

-- name: event_insert
INSERT INTO payment_event (id, attempt_id, order_id, method, source, raw, headers, verdict, received_at)
SELECT r.id, r.attempt_id, r.order_id, r.method, r.source, r.raw, r.headers, r.verdict, r.received_at
FROM @rows($1: id text, attempt_id text, order_id text, method text, source text, raw text, headers text, verdict text, received_at int) AS r

-- name: mismatch_clear
UPDATE payment_mismatch SET cleared_at = $2 WHERE attempt_id = $1 AND cleared_at IS NULL

-- name: mismatch_insert
-- A gateway may report the same amount many times, even after staff have cleared it.
INSERT INTO payment_mismatch (attempt_id, order_id, amount, currency, reported_at)
SELECT r.attempt_id, r.order_id, r.amount, r.currency, r.reported_at
FROM @rows($1: attempt_id text, order_id text, amount int, currency text, reported_at int) AS r
WHERE true
ON CONFLICT DO NOTHING

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
