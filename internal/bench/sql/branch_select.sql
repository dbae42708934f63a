SELECT name FROM branch WHERE id = $1
