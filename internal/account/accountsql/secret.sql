-- name: secret_insert
INSERT INTO install_secret (name, value, created_at)
SELECT r.name, r.value, $2 FROM @rows($1: name text, value text) AS r
WHERE TRUE
ON CONFLICT (name) DO NOTHING

-- name: secret_list
SELECT name, value FROM install_secret

-- name: secret_replace
UPDATE install_secret SET value = $2, created_at = $3 WHERE name = $1
