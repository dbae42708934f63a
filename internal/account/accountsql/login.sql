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

-- name: pin_colleagues
-- Leaves out administrators, also those who set a PIN before their promotion: a PIN is too weak for their rights. The
-- actor's own PIN is listed also if it is blocked, so that they can set a new one or remove it. CROSS JOIN keeps SQLite
-- from reading the accounts of all members.
SELECT u.id, COALESCE(u.first_name, ''), COALESCE(u.surname, ''), COALESCE(u.username, u.email, ''), r.name, r.id, p.failures
FROM user_pin p
/*sqlite: CROSS*/ JOIN app_user u ON u.id = p.user_id
JOIN role r ON r.id = u.role_id
WHERE u.status = 'ACTIVE' AND (p.failures < $1 OR u.id = $4) AND r.name NOT IN ('OWNER', 'ADMIN', 'USER')
  AND ($2 = 1 OR EXISTS (
        SELECT 1 FROM @rows($3: id int) AS w /*sqlite: CROSS*/ JOIN user_branch b ON w.id = b.branch_id WHERE b.user_id = u.id))
ORDER BY u.id

-- name: pin_delete
DELETE FROM user_pin WHERE user_id = $1

-- name: pin_failures_reset
-- Changes no row if the PIN was replaced since it was compared: the old one must not log in.
UPDATE user_pin SET failures = 0 WHERE user_id = $1 AND hash = $2

-- name: pin_put
INSERT INTO user_pin (user_id, hash, failures, updated_at) VALUES ($1, $2, 0, $3)
ON CONFLICT (user_id) DO UPDATE SET hash = excluded.hash, failures = 0, updated_at = excluded.updated_at

-- name: pin_try
UPDATE user_pin SET failures = failures + 1 WHERE user_id = $1 AND failures < $2 RETURNING hash
