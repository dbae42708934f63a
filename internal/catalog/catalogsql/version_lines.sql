SELECT e.item_id, d.id, c.id, c.names, d.names, d.image_url, e.price, e.daily_quota, e.is_active, e.sort
FROM menu_version_item e
JOIN menu_item i ON i.id = e.item_id
JOIN dish d ON d.id = i.dish_id
JOIN category c ON c.id = d.category_id
WHERE e.version_id = $1 AND (CAST($2 AS BIGINT) = 0 OR e.item_id = $2)
ORDER BY c.sort, c.id, e.sort, e.item_id
