SELECT i.item_id, d.id, c.id, c.names, i.price, i.is_active, d.names, d.descriptions, d.image_url
FROM menu_version_item i
JOIN menu_item m ON m.id = i.item_id
JOIN dish d ON d.id = m.dish_id
JOIN category c ON c.id = d.category_id
WHERE i.version_id = $1
ORDER BY c.sort, c.id, i.sort, i.item_id
