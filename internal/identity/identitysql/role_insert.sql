INSERT INTO role (name, description, created_at, updated_at, created_by, updated_by)
VALUES ($1, $2, $3, $3, $4, $4)
RETURNING id
