-- name: expiry_of_members
-- The members' orders of a list, and whether each has expired and was not revived by a late payment.
SELECT o.user_id, o.id, CASE WHEN o.status = 'CANCELED' AND o.cancel_reason = 'EXPIRED' THEN 1 ELSE 0 END
FROM order_info o
WHERE o.id /*pg: = ANY ($1) *//*sqlite: IN (SELECT id FROM @rows($1: id text)) */ AND o.user_id IS NOT NULL
ORDER BY o.user_id, o.id
