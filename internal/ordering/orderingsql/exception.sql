-- name: exception_attempts
-- A capture that is under way is listed only if its attempt is from before $3.
SELECT a.id, a.order_id, o.number, o.biz_date, a.method, a.amount, a.currency, a.state, a.gateway_ref, a.created_at
FROM payment_attempt a
JOIN order_info o ON o.id = a.order_id
WHERE a.state IN ('REVIEW', 'UNKNOWN', 'CONFIRMING') AND (a.state <> 'CONFIRMING' OR a.created_at < $3) AND o.branch_id = $1
ORDER BY a.created_at
LIMIT $2

-- name: exception_mismatches
SELECT m.attempt_id, m.order_id, o.number, o.biz_date, a.method, a.amount, a.currency, a.state, a.gateway_ref, m.amount,
       m.currency, m.reported_at
FROM payment_mismatch m
JOIN payment_attempt a ON a.id = m.attempt_id
JOIN order_info o ON o.id = m.order_id
WHERE m.cleared_at IS NULL AND o.branch_id = $1
ORDER BY m.reported_at, m.attempt_id, m.amount
LIMIT $2

-- name: exception_refunds
-- CROSS JOIN keeps SQLite from reading all orders of the branch.
SELECT f.id, f.order_id, o.number, o.biz_date, f.method, f.amount, f.currency, f.state, f.reason, f.code, f.created_at
FROM refund f
/*sqlite: CROSS*/ JOIN order_info o ON o.id = f.order_id
WHERE f.state <> 'DONE' AND o.branch_id = $1
ORDER BY f.created_at
LIMIT $2
