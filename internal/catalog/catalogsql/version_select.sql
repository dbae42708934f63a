SELECT id, menu_id, branch_id, number, status, created_at, published_at
FROM menu_version
WHERE id = $1
