SELECT id, branch_id, biz_date, ops, created_at, dead_at, coalesce(error, '')
FROM redis_outbox
WHERE dead_at IS NOT NULL AND (CAST($1 AS TEXT) = '' OR id = $1)
ORDER BY dead_at DESC, id DESC
LIMIT $2 OFFSET $3
