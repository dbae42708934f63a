SELECT b.id
FROM branch b
WHERE b.id IN (SELECT i.branch_id FROM menu_item i JOIN dish d ON d.id = i.dish_id WHERE d.category_id = $1)
ORDER BY b.id
/*pg: FOR NO KEY UPDATE OF b */
