INSERT INTO dining_table (branch_id, label, seats) VALUES ($1, $2, $3) RETURNING id
