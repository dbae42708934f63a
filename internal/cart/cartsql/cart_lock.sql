SELECT c.user_id, c.id, coalesce(c.branch_id, 0), c.version, c.updated_at
FROM cart c
JOIN @rows($1: id int) AS r ON c.user_id = r.id
ORDER BY c.id
/*pg: FOR UPDATE OF c*/
