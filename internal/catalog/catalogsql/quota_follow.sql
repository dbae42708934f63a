-- Drafts that have the quota which was in force until now follow the change; those that have their own keep it.
UPDATE menu_version_item SET daily_quota = $2
WHERE item_id = $1
  AND daily_quota IS NOT DISTINCT FROM (SELECT i.daily_quota FROM menu_item i WHERE i.id = $1)
  AND version_id IN (SELECT v.id FROM menu_version v WHERE v.status = 'DRAFT')
