-- name: staff_setup_clear
DELETE FROM install_secret WHERE name LIKE 'setup:%'

-- name: staff_setup_put
INSERT INTO install_secret (name, value, created_at) VALUES ($1, '', $2)

-- name: staff_setup_select
SELECT name FROM install_secret WHERE name = $1 AND created_at > $2

-- name: staff_setup_trim
-- Keeps the newest codes. Each start without a set-up adds one, so they would otherwise fill the database.
DELETE FROM install_secret
WHERE name LIKE 'setup:%' AND name NOT IN (
    SELECT n.name FROM (
        SELECT name FROM install_secret WHERE name LIKE 'setup:%' ORDER BY created_at DESC, name LIMIT $1
    ) n
)

-- name: secret_insert
INSERT INTO install_secret (name, value, created_at)
SELECT r.name, r.value, $2 FROM @rows($1: name text, value text) AS r
WHERE TRUE
ON CONFLICT (name) DO NOTHING

-- name: secret_list
SELECT name, value FROM install_secret

-- name: secret_replace
UPDATE install_secret SET value = $2, created_at = $3 WHERE name = $1
