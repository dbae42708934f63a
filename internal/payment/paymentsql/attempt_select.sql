SELECT a.id, a.order_id, a.method, a.amount, a.currency, a.state, a.gateway_ref, a.redirect_url, a.created_at,
       coalesce(a.settled_at, 0), coalesce(a.check_at, 0), a.checks
FROM payment_attempt a
JOIN @rows($1: id text) AS r ON a.order_id = r.id
ORDER BY a.order_id, a.id
