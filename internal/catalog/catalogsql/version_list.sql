SELECT id, menu_id, branch_id, number, status, created_at, published_at
FROM menu_version
WHERE menu_id = $1
ORDER BY number DESC
LIMIT $2 OFFSET $3
