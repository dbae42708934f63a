-- Roles are made once; whoever comes second makes none and is given none back.
INSERT INTO role (name, description, created_at, updated_at)
SELECT r.name, r.description, $2, $2
FROM @rows($1: name text, description text) AS r
WHERE true
ON CONFLICT (name) DO NOTHING
RETURNING id
