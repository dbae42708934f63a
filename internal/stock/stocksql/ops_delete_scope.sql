-- Some at a time: after hours without Redis there may be millions.
DELETE FROM redis_outbox
WHERE id IN (SELECT o.id FROM redis_outbox o WHERE o.branch_id = $1 AND o.biz_date = $2 ORDER BY o.id LIMIT $3)
