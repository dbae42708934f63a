INSERT INTO category (id, names, created_at, updated_at)
VALUES ($1, $2, $3, $3)
ON CONFLICT (id) DO UPDATE SET names = excluded.names, updated_at = excluded.updated_at, version = category.version + 1
