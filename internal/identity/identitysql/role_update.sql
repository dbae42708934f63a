UPDATE role SET name = $2, description = $3, updated_at = $4, updated_by = $5, version = version + 1 WHERE id = $1
