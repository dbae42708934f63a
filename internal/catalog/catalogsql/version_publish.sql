UPDATE menu_version SET status = 'PUBLISHED', published_at = $2
WHERE id = $1 AND status = 'DRAFT'
