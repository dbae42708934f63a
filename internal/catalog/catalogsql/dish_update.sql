UPDATE dish
SET category_id = $2, names = $3, descriptions = $4, image_url = $5, updated_at = $6, updated_by = $7, version = version + 1
WHERE id = $1
