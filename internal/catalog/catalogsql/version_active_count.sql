SELECT COUNT(*) FROM menu_version_item WHERE version_id = $1 AND is_active = 1
