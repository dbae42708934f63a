SELECT m.branch_id FROM menu_item m WHERE m.id = $1
