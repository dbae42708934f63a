SELECT c.id, c.names
FROM category c
WHERE EXISTS (SELECT 1 FROM menu_item m JOIN dish d ON d.id = m.dish_id WHERE m.branch_id = $1 AND d.category_id = c.id)
ORDER BY c.sort, c.id
