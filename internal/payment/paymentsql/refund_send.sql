-- Whoever finds a row locked leaves it to the one who has it. The refunds of one payment are sent one after the other, the
-- oldest first and behind the one that was begun: what has become of one tells the gateway's answer to the next, and an old
-- one that is decided anew is not to be taken for one that is just being sent.
SELECT f.id, f.order_id, f.attempt_id, f.method, f.amount, f.currency, f.state, f.reason, f.note, f.decided_by,
       f.gateway_ref, f.portal_ref, f.code, coalesce(f.send_at, 0), f.tries, f.sent_before IS NOT NULL, coalesce(f.sent_before, ''),
       f.created_at, coalesce(f.done_at, 0), coalesce(f.client_txn_id, '')
FROM refund f
WHERE f.send_at <= $1 AND NOT EXISTS (
    SELECT 1 FROM refund e
    WHERE e.attempt_id = f.attempt_id AND e.state = 'SENDING' AND e.id <> f.id
      AND (e.tries > 0 AND f.tries = 0 OR (e.tries > 0) = (f.tries > 0) AND e.id < f.id))
ORDER BY f.send_at
LIMIT $2
/*pg: FOR UPDATE SKIP LOCKED*/
