-- The branch's row is the one lock under which its menus change.
SELECT b.id
FROM branch b
JOIN menu_item i ON i.branch_id = b.id
WHERE i.id = $1
/*pg: FOR NO KEY UPDATE OF b */
