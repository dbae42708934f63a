DELETE FROM menu_version WHERE id = $1 AND status = 'DRAFT'
