INSERT INTO role (id, name, description, created_at, updated_at)
VALUES ($1, $2, 'a role', $3, $3)
ON CONFLICT (id) DO UPDATE SET name = excluded.name, updated_at = excluded.updated_at, version = role.version + 1
