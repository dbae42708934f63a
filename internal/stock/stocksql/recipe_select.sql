SELECT l.menu_item_id, l.item_id, l.qty
FROM recipe_line l JOIN menu_item m ON m.id = l.menu_item_id
WHERE m.branch_id = $1
ORDER BY l.menu_item_id, l.item_id
