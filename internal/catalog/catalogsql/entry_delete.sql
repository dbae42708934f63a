-- Only of a draft (I13).
DELETE FROM menu_version_item
WHERE item_id = $2 AND version_id IN (SELECT v.id FROM menu_version v WHERE v.id = $1 AND v.status = 'DRAFT')
