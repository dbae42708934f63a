INSERT INTO menu_version (id, menu_id, branch_id, number, status, created_at, published_at)
SELECT r.id, r.menu_id, r.branch_id, 1, 'PUBLISHED', $2, $2
FROM @rows($1: id int, menu_id int, branch_id int) AS r
