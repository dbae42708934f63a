-- The branches that have a dish on a menu, in their order. Whoever changes a dish or a category locks them first.
SELECT b.id
FROM branch b
WHERE b.id IN (SELECT i.branch_id FROM menu_item i WHERE i.dish_id = $1)
ORDER BY b.id
/*pg: FOR NO KEY UPDATE OF b */
