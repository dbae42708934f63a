INSERT INTO menu_version (id, menu_id, branch_id, number, status, created_at, published_at)
VALUES ($1, $1, $1, 1, 'PUBLISHED', $2, $2)
