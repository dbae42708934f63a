INSERT INTO dish (id, category_id, names, descriptions, created_at, updated_at)
VALUES ($1, $2, $3, '{}', $4, $4)
ON CONFLICT (id) DO UPDATE SET category_id = excluded.category_id, names = excluded.names,
    updated_at = excluded.updated_at, version = dish.version + 1
