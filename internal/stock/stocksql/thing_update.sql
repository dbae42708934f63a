UPDATE stock_item SET name = $2, unit = $3, low_at = $4, updated_at = $5 WHERE id = $1
