INSERT INTO menu (id, branch_id, name) VALUES ($1, $1, $2)
