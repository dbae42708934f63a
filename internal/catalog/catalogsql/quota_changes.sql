-- The quotas that publishing a version brings into force, in the order in which counters are locked.
SELECT e.item_id, e.daily_quota
FROM menu_version_item e
JOIN menu_item i ON i.id = e.item_id
WHERE e.version_id = $1 AND e.daily_quota IS DISTINCT FROM i.daily_quota
ORDER BY e.item_id
