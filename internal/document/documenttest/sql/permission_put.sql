INSERT INTO permission (id, name, api_path, method, module, created_at, updated_at)
VALUES ($1, $2, $3, 'GET', 'TEST', $4, $4)
ON CONFLICT (id) DO UPDATE SET name = excluded.name, updated_at = excluded.updated_at, version = permission.version + 1
