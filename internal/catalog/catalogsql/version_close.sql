UPDATE menu_version SET status = 'CLOSED', closed_at = $2
WHERE branch_id = $1 AND status = 'PUBLISHED'
