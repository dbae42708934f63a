-- Versions in force or in the making that have the dish.
SELECT COUNT(*)
FROM menu_item i
JOIN menu_version_item e ON e.item_id = i.id
JOIN menu_version v ON v.id = e.version_id
WHERE i.dish_id = $1 AND v.status <> 'CLOSED'
