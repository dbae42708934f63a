SELECT d.id, d.category_id, d.names, d.descriptions, d.image_url, d.retired_at, d.updated_at,
       CASE WHEN EXISTS (
        SELECT 1
        FROM menu_item i
        JOIN menu_version_item e ON e.item_id = i.id
        JOIN menu_version v ON v.id = e.version_id AND v.status = 'PUBLISHED'
        WHERE i.dish_id = d.id) THEN 1 ELSE 0 END
FROM dish d
WHERE d.id = $1
/*pg: FOR UPDATE OF d */
