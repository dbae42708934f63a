UPDATE menu_item SET daily_quota = $2 WHERE id = $1
