SELECT b.id FROM branch b ORDER BY b.is_open DESC, b.id LIMIT 1
