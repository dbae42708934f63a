SELECT id, daily_quota FROM menu_item WHERE branch_id = $1 AND daily_quota IS NOT NULL
