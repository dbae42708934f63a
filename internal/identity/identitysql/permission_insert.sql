INSERT INTO permission (name, api_path, method, module, created_at, updated_at)
SELECT r.name, r.path, r.method, r.module, $2, $2
FROM @rows($1: name text, path text, method text, module text) AS r
