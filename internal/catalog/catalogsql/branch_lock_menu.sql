SELECT b.id
FROM branch b
JOIN menu m ON m.branch_id = b.id
WHERE m.id = $1
/*pg: FOR NO KEY UPDATE OF b */
