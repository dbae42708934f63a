SELECT daily_quota FROM menu_item WHERE id = $1
