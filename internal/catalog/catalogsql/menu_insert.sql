INSERT INTO menu (branch_id, name) VALUES ($1, $2)
RETURNING id
