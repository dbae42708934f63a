UPDATE app_user SET status = 'ACTIVE', registered = 1, updated_at = $2, version = version + 1
WHERE id = $1 AND status = 'PENDING'
