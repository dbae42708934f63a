SELECT id FROM dish WHERE category_id = $1 ORDER BY id LIMIT $2 OFFSET $3
