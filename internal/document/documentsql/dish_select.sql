-- The price is that of the first branch which has the dish on its published menu.
SELECT d.id, d.names, d.descriptions,
       (SELECT e.price
        FROM menu_item i
        JOIN menu_version v ON v.branch_id = i.branch_id AND v.menu_id = i.menu_id AND v.status = 'PUBLISHED'
        JOIN menu_version_item e ON e.version_id = v.id AND e.item_id = i.id
        WHERE i.dish_id = d.id ORDER BY i.branch_id, i.id LIMIT 1),
       (SELECT b.currency
        FROM menu_item i
        JOIN menu_version v ON v.branch_id = i.branch_id AND v.menu_id = i.menu_id AND v.status = 'PUBLISHED'
        JOIN menu_version_item e ON e.version_id = v.id AND e.item_id = i.id
        JOIN branch b ON b.id = i.branch_id
        WHERE i.dish_id = d.id ORDER BY i.branch_id, i.id LIMIT 1),
       d.image_url, d.category_id, CAST(NULL AS BIGINT), CAST(NULL AS BIGINT),
       CASE WHEN EXISTS (
        SELECT 1
        FROM menu_item i
        JOIN menu_version v ON v.branch_id = i.branch_id AND v.menu_id = i.menu_id AND v.status = 'PUBLISHED'
        JOIN menu_version_item e ON e.version_id = v.id AND e.item_id = i.id
        WHERE i.dish_id = d.id AND e.is_active = 1) THEN 1 ELSE 0 END,
       d.names, d.descriptions, d.created_at, d.updated_at, d.created_by, d.updated_by, d.version
FROM dish d
WHERE d.id /*pg: = ANY ($1) *//*sqlite: IN (SELECT id FROM @rows($1: id int)) */
