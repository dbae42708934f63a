-- name: account_google
SELECT @account_columns
FROM app_user u
JOIN role r ON r.id = u.role_id
WHERE u.google_id = $1

-- name: google_set
UPDATE app_user SET google_id = $2, updated_at = $3, version = version + 1 WHERE id = $1

-- name: google_activate
-- The password of a registration that was not finished may be that of a stranger.
UPDATE app_user
SET google_id = $2, status = 'ACTIVE', registered = 1, password = NULL, failures = 0, updated_at = $3, version = version + 1
WHERE id = $1 AND status = 'PENDING'
