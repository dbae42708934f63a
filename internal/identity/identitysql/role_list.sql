SELECT id, name, description, created_at, updated_at, version FROM role ORDER BY id
