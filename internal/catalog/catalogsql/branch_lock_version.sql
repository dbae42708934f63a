SELECT b.id
FROM branch b
JOIN menu_version v ON v.branch_id = b.id
WHERE v.id = $1
/*pg: FOR NO KEY UPDATE OF b */
