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
