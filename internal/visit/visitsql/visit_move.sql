UPDATE visit SET table_id = $2 WHERE id = $1
