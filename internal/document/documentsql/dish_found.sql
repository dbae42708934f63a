SELECT COUNT(*) FROM dish WHERE category_id = $1
