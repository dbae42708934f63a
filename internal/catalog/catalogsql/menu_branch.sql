SELECT branch_id FROM menu WHERE id = $1
