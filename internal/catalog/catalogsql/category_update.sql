UPDATE category
SET sort = $2, names = $3, descriptions = $4, updated_at = $5, updated_by = $6, version = version + 1
WHERE id = $1
