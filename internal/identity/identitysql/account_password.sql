UPDATE app_user SET password = $3, failures = 0, updated_at = $4, version = version + 1 WHERE id = $1 AND password = $2
