UPDATE permission SET name = r.name, module = r.module, updated_at = $2, version = permission.version + 1
FROM @rows($1: id int, name text, module text) AS r
WHERE permission.id = r.id
