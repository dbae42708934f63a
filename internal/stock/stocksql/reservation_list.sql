-- Empty texts choose all.
SELECT h.id, h.created_at, h.updated_at
FROM hold h
WHERE h.branch_id = $1 AND h.biz_date = ''
  AND (CAST($2 AS TEXT) = '' OR h.state = $2)
  AND (CAST($3 AS TEXT) = '' OR h.reason = $3)
ORDER BY h.updated_at DESC, h.id
LIMIT $4 OFFSET $5
