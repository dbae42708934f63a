SELECT c.id, c.sort, c.names, c.descriptions, (SELECT COUNT(*) FROM dish d WHERE d.category_id = c.id), c.updated_at
FROM category c
ORDER BY c.sort, c.id
LIMIT $1 OFFSET $2
