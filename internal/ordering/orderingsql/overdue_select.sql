-- Locks nothing: the ledger looks again under its locks, in their order.
SELECT o.id
FROM hold h
JOIN order_info o ON o.hold_id = h.id
WHERE h.state = 'HELD' AND h.expires_at <= $1
ORDER BY h.expires_at
LIMIT $2
