SELECT dish_id, daily_quota, off_at, off_until, off_by FROM menu_item WHERE id = $1
