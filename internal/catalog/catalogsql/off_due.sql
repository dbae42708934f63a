SELECT id FROM menu_item WHERE off_until IS NOT NULL AND off_until <= $1 ORDER BY off_until, id LIMIT 100
