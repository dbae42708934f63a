UPDATE menu_item SET off_at = $2, off_until = $3, off_through = $4, off_by = $5 WHERE id = $1
