SELECT c.id, c.sort, c.names, c.descriptions, (SELECT COUNT(*) FROM dish d WHERE d.category_id = c.id), c.updated_at
FROM category c
WHERE c.id = $1
/*pg: FOR UPDATE OF c */
