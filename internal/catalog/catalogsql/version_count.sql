SELECT COUNT(*) FROM menu_version WHERE menu_id = $1
