-- Only a draft, and only with an item of its own menu whose dish was not retired; anything else changes no row (I13).
INSERT INTO menu_version_item (version_id, item_id, sort, price, daily_quota, is_active)
SELECT v.id, i.id,
       COALESCE(CAST($6 AS BIGINT), (SELECT MAX(e.sort) + 1 FROM menu_version_item e WHERE e.version_id = v.id), 1),
       $3, $4, $5
FROM menu_version v
JOIN menu_item i ON i.menu_id = v.menu_id
JOIN dish d ON d.id = i.dish_id
WHERE v.id = $1 AND v.status = 'DRAFT' AND i.id = $2 AND d.retired_at IS NULL
ON CONFLICT (version_id, item_id) DO UPDATE
SET sort = COALESCE(CAST($6 AS BIGINT), menu_version_item.sort), price = excluded.price,
    daily_quota = excluded.daily_quota, is_active = excluded.is_active
