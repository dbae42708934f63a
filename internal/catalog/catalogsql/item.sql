-- name: off_due
SELECT id FROM menu_item WHERE off_until IS NOT NULL AND off_until <= $1 ORDER BY off_until, id LIMIT 100

-- name: off_list
SELECT id, off_at, off_until, off_by FROM menu_item WHERE branch_id = $1 AND off_at IS NOT NULL ORDER BY id

-- name: off_same_dish
-- Returns the items of the branch with the dish of an item, in the lock order of counters.
SELECT o.id
FROM menu_item i
JOIN menu_item o ON o.branch_id = i.branch_id AND o.dish_id = i.dish_id
WHERE i.id = $1
ORDER BY o.id

-- name: off_select
SELECT dish_id, daily_quota, off_at, off_until, off_by FROM menu_item WHERE id = $1

-- name: off_set
UPDATE menu_item SET off_at = $2, off_until = $3, off_through = $4, off_by = $5 WHERE id = $1

-- name: quota_changes
-- Returns the quotas that publishing a version changes, in the lock order of counters.
SELECT e.item_id, e.daily_quota
FROM menu_version_item e
JOIN menu_item i ON i.id = e.item_id
WHERE e.version_id = $1 AND e.daily_quota IS DISTINCT FROM i.daily_quota
ORDER BY e.item_id

-- name: quota_follow
-- Changes the quota in drafts that still have the old one. Drafts with another quota keep it.
UPDATE menu_version_item SET daily_quota = $2
WHERE item_id = $1
  AND daily_quota IS NOT DISTINCT FROM (SELECT i.daily_quota FROM menu_item i WHERE i.id = $1)
  AND version_id IN (SELECT v.id FROM menu_version v WHERE v.status = 'DRAFT')

-- name: quota_list
SELECT id, daily_quota FROM menu_item WHERE branch_id = $1 AND daily_quota IS NOT NULL

-- name: quota_select
SELECT daily_quota FROM menu_item WHERE id = $1

-- name: quota_set
UPDATE menu_item SET daily_quota = $2 WHERE id = $1
