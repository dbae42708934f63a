SELECT id, off_at, off_until, off_by FROM menu_item WHERE branch_id = $1 AND off_at IS NOT NULL ORDER BY id
