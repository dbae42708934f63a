INSERT INTO install_secret (name, value, created_at)
SELECT r.name, r.value, $2 FROM @rows($1: name text, value text) AS r
WHERE TRUE
ON CONFLICT (name) DO NOTHING
