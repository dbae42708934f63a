DELETE FROM app_user WHERE id = $1 RETURNING version
