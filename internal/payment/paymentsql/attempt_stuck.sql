SELECT state, count(*)
FROM payment_attempt
WHERE state IN ('REVIEW', 'UNKNOWN')
GROUP BY state
