UPDATE dining_table SET label = $2, seats = $3, active = $4 WHERE id = $1
