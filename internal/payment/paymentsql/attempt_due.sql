-- Whoever finds a row locked leaves it to the one who has it.
SELECT a.id, a.order_id, a.method, a.amount, a.currency, a.state, a.gateway_ref, a.redirect_url, a.created_at,
       coalesce(a.settled_at, 0), coalesce(a.check_at, 0), a.checks
FROM payment_attempt a
WHERE a.check_at <= $1
ORDER BY a.check_at
LIMIT $2
/*pg: FOR UPDATE SKIP LOCKED*/
