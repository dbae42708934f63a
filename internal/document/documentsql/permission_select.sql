SELECT p.id, p.name, p.api_path, p.method, p.module, p.created_at, p.updated_at, p.created_by, p.updated_by, p.version
FROM permission p
WHERE p.id /*pg: = ANY ($1) *//*sqlite: IN (SELECT id FROM @rows($1: id int)) */
