SELECT id, name, description, created_at, updated_at, version FROM role WHERE id = $1
