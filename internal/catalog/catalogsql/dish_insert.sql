INSERT INTO dish (category_id, names, descriptions, image_url, created_at, updated_at, created_by, updated_by)
VALUES ($1, $2, $3, $4, $5, $5, $6, $6)
RETURNING id
