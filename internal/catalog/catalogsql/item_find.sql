SELECT i.id
FROM menu_version v
JOIN menu_item i ON i.menu_id = v.menu_id
WHERE v.id = $1 AND i.dish_id = $2
