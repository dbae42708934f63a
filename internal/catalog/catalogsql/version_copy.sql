-- A draft begins as what is in force, the quotas included.
INSERT INTO menu_version_item (version_id, item_id, sort, price, daily_quota, is_active)
SELECT $1, i.item_id, i.sort, i.price, m.daily_quota, i.is_active
FROM menu_version_item i
JOIN menu_version v ON v.id = i.version_id
JOIN menu_item m ON m.id = i.item_id
WHERE v.menu_id = $2 AND v.status = 'PUBLISHED'
