UPDATE app_user SET failures = 0, password = $2 WHERE id = $1
