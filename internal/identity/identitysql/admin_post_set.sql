UPDATE app_user SET role_id = $2, valid_from = $3, updated_at = $3, updated_by = $4, version = version + 1 WHERE id = $1
