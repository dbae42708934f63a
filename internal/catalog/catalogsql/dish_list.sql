-- 0 chooses all categories; $2 = 1 those dishes too that were retired.
SELECT d.id, d.category_id, d.names, d.descriptions, d.image_url, d.retired_at, d.updated_at,
       CASE WHEN EXISTS (
        SELECT 1
        FROM menu_item i
        JOIN menu_version_item e ON e.item_id = i.id
        JOIN menu_version v ON v.id = e.version_id AND v.status = 'PUBLISHED'
        WHERE i.dish_id = d.id) THEN 1 ELSE 0 END
FROM dish d
JOIN category c ON c.id = d.category_id
WHERE (CAST($1 AS BIGINT) = 0 OR d.category_id = $1) AND (CAST($2 AS BIGINT) = 1 OR d.retired_at IS NULL)
ORDER BY c.sort, c.id, d.id
LIMIT $3
