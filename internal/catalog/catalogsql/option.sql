-- fragment: group_columns
g.id, g.kind, g.names, g.note, g.retired_at, g.updated_at,
(SELECT COUNT(DISTINCT e.item_id)
 FROM menu_version_group e
 JOIN menu_version v ON v.id = e.version_id AND v.status = 'PUBLISHED'
 WHERE e.group_id = g.id)

-- fragment: choice_columns
c.id, c.group_id, c.names, c.short_name, COALESCE(c.dish_id, 0), c.sort, c.tax_class, c.allergens, c.diets, c.retired_at

-- name: branch_lock_group
-- Locks the branches with a version that has the group, by id. Changes to a group or its options take these locks first.
SELECT b.id
FROM branch b
WHERE b.id IN (SELECT v.branch_id FROM menu_version v JOIN menu_version_group e ON e.version_id = v.id WHERE e.group_id = $1)
ORDER BY b.id
/*pg: FOR NO KEY UPDATE OF b */

-- name: choice_insert
INSERT INTO option_choice (group_id, names, short_name, dish_id, sort, tax_class, allergens, diets)
VALUES ($1, $2, $3, CAST($4 AS BIGINT), $5, $6, $7, $8)
RETURNING id

-- name: choice_list
-- Group 0 selects all groups that are not retired.
SELECT @choice_columns
FROM option_choice c
JOIN option_group g ON g.id = c.group_id
WHERE CASE WHEN CAST($1 AS BIGINT) = 0 THEN g.retired_at IS NULL ELSE c.group_id = $1 END
ORDER BY c.group_id, c.sort, c.id

-- name: choice_group
SELECT group_id FROM option_choice WHERE id = $1

-- name: choice_retire
UPDATE option_choice SET retired_at = $2 WHERE id = $1

-- name: choice_retire_group
UPDATE option_choice SET retired_at = $2 WHERE group_id = $1 AND retired_at IS NULL

-- name: choice_share
-- Reads options of any group, and keeps them from being retired until the transaction ends.
SELECT c.id, c.group_id, g.kind, COALESCE(c.dish_id, 0), COALESCE(c.retired_at, 0)
FROM @rows($1: id int) AS r
JOIN option_choice c ON c.id = r.id
JOIN option_group g ON g.id = c.group_id
/*pg: FOR SHARE OF c, g */

-- name: choice_update
UPDATE option_choice SET names = $2, short_name = $3, sort = $4, tax_class = $5, allergens = $6, diets = $7 WHERE id = $1

-- name: choice_used
-- Counts the published and draft versions that have the option active.
SELECT COUNT(*)
FROM menu_version_choice e
JOIN menu_version v ON v.id = e.version_id
WHERE e.choice_id = $1 AND e.is_active = 1 AND v.status <> 'CLOSED'

-- fragment: copied_items
-- The items of draft $1 whose dishes are on version $2.
SELECT l.item_id
FROM menu_version_item l
JOIN menu_item t ON t.id = l.item_id
JOIN menu_item s ON s.dish_id = t.dish_id
JOIN menu_version_item e ON e.item_id = s.id AND e.version_id = $2
WHERE l.version_id = $1

-- name: copied_choice_delete
DELETE FROM menu_version_choice WHERE version_id = $1 AND item_id IN (@copied_items)

-- name: copied_choice_insert
INSERT INTO menu_version_choice
    (version_id, item_id, parent_id, group_id, choice_id, sort, price, is_default, is_active, component_item_id)
SELECT v.id, t.id, e.parent_id, e.group_id, e.choice_id, e.sort, e.price, e.is_default, e.is_active, p.id
FROM menu_version_choice e
JOIN menu_item s ON s.id = e.item_id
JOIN menu_version v ON v.id = $1
JOIN menu_item t ON t.menu_id = v.menu_id AND t.dish_id = s.dish_id
JOIN menu_version_item l ON l.version_id = v.id AND l.item_id = t.id
LEFT JOIN menu_item c ON c.id = e.component_item_id
LEFT JOIN menu_item p ON p.menu_id = v.menu_id AND p.dish_id = c.dish_id
WHERE e.version_id = $2

-- name: copied_components
-- A new item of a dish that is off is off as well, as in item_ensure.
INSERT INTO menu_item (menu_id, branch_id, dish_id, off_at, off_until, off_through, off_by)
SELECT v.menu_id, v.branch_id, c.dish_id, o.off_at, o.off_until, o.off_through, COALESCE(o.off_by, '')
FROM menu_version v
JOIN menu_item c ON c.id IN (SELECT e.component_item_id FROM menu_version_choice e WHERE e.version_id = $2)
LEFT JOIN menu_item o ON o.id = (
    SELECT MIN(s.id) FROM menu_item s WHERE s.branch_id = v.branch_id AND s.dish_id = c.dish_id AND s.off_at IS NOT NULL)
WHERE v.id = $1
ON CONFLICT (menu_id, dish_id) DO NOTHING

-- name: copied_group_delete
DELETE FROM menu_version_group WHERE version_id = $1 AND item_id IN (@copied_items)

-- name: copied_group_insert
INSERT INTO menu_version_group
    (version_id, item_id, parent_id, group_id, sort, min_units, max_units, free_units, max_each, credit, defaults_charge)
SELECT v.id, t.id, e.parent_id, e.group_id, e.sort, e.min_units, e.max_units, e.free_units, e.max_each, e.credit, e.defaults_charge
FROM menu_version_group e
JOIN menu_item s ON s.id = e.item_id
JOIN menu_version v ON v.id = $1
JOIN menu_item t ON t.menu_id = v.menu_id AND t.dish_id = s.dish_id
JOIN menu_version_item l ON l.version_id = v.id AND l.item_id = t.id
WHERE e.version_id = $2

-- name: group_count
SELECT COUNT(*) FROM option_group WHERE retired_at IS NULL

-- name: group_insert
INSERT INTO option_group (kind, names, note, created_at, updated_at)
VALUES ($1, $2, $3, $4, $4)
RETURNING id

-- name: group_list
SELECT @group_columns
FROM option_group g
WHERE g.retired_at IS NULL
ORDER BY g.id

-- name: group_lock
SELECT @group_columns
FROM option_group g
WHERE g.id = $1
/*pg: FOR UPDATE OF g */

-- name: group_retire
UPDATE option_group SET retired_at = $2, updated_at = $2 WHERE id = $1

-- name: group_share
SELECT g.id, g.kind, COALESCE(g.retired_at, 0)
FROM @rows($1: id int) AS r
JOIN option_group g ON g.id = r.id
/*pg: FOR SHARE OF g */

-- name: group_touch
UPDATE option_group SET updated_at = $2 WHERE id = $1

-- name: group_update
UPDATE option_group SET names = $2, note = $3, updated_at = $4 WHERE id = $1

-- name: group_used
-- Counts the published and draft versions that have the group.
SELECT COUNT(*)
FROM menu_version_group e
JOIN menu_version v ON v.id = e.version_id
WHERE e.group_id = $1 AND v.status <> 'CLOSED'

-- name: choice_off_delete
DELETE FROM choice_off WHERE branch_id = $1 AND choice_id = $2

-- name: choice_off_due
SELECT branch_id, choice_id FROM choice_off
WHERE off_until IS NOT NULL AND off_until <= $1
ORDER BY off_until, branch_id, choice_id
LIMIT 100

-- name: choice_off_list
SELECT choice_id, off_at, off_until, off_by FROM choice_off WHERE branch_id = $1 ORDER BY choice_id

-- name: choice_off_select
SELECT choice_id, off_at, off_until, off_by FROM choice_off WHERE branch_id = $1 AND choice_id = $2

-- name: choice_off_set
INSERT INTO choice_off (branch_id, choice_id, off_at, off_until, off_by)
VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (branch_id, choice_id) DO UPDATE SET off_until = excluded.off_until, off_by = excluded.off_by

-- name: version_groups
-- Item 0 selects all items.
SELECT e.item_id, e.parent_id, e.group_id, g.kind, g.names, e.sort, e.min_units, e.max_units, e.free_units, e.max_each,
       e.credit, e.defaults_charge
FROM menu_version_group e
JOIN option_group g ON g.id = e.group_id
WHERE e.version_id = $1 AND (CAST($2 AS BIGINT) = 0 OR e.item_id = $2)
ORDER BY e.item_id, e.sort, e.parent_id, e.group_id

-- name: version_group_delete
-- Group 0 deletes all groups of the item. Changes drafts only (I13).
DELETE FROM menu_version_group
WHERE item_id = $2 AND (CAST($3 AS BIGINT) = 0 OR group_id = $3 AND parent_id = 0)
  AND version_id IN (SELECT v.id FROM menu_version v WHERE v.id = $1 AND v.status = 'DRAFT')

-- name: version_group_insert
INSERT INTO menu_version_group
    (version_id, item_id, parent_id, group_id, sort, min_units, max_units, free_units, max_each, credit, defaults_charge)
SELECT CAST($2 AS BIGINT), CAST($3 AS BIGINT), r.parent_id, r.group_id, r.sort, r.min_units, r.max_units, r.free_units, r.max_each, r.credit,
       r.defaults_charge
FROM @rows($1: parent_id int, group_id int, sort int, min_units int, max_units int, free_units int, max_each int, credit int, defaults_charge int) AS r

-- name: version_choices
SELECT e.item_id, e.parent_id, e.group_id, e.choice_id, c.names, c.short_name, COALESCE(c.dish_id, 0),
       COALESCE(e.component_item_id, 0), c.tax_class, COALESCE(d.allergens, c.allergens), COALESCE(d.diets, c.diets), e.price,
       e.sort, e.is_default, e.is_active
FROM menu_version_choice e
JOIN option_choice c ON c.id = e.choice_id
LEFT JOIN dish d ON d.id = c.dish_id
WHERE e.version_id = $1 AND (CAST($2 AS BIGINT) = 0 OR e.item_id = $2)
ORDER BY e.item_id, e.parent_id, e.group_id, e.sort, e.choice_id

-- name: version_choice_delete
-- As version_group_delete.
DELETE FROM menu_version_choice
WHERE item_id = $2 AND (CAST($3 AS BIGINT) = 0 OR group_id = $3 AND parent_id = 0)
  AND version_id IN (SELECT v.id FROM menu_version v WHERE v.id = $1 AND v.status = 'DRAFT')

-- name: version_choice_insert
INSERT INTO menu_version_choice
    (version_id, item_id, parent_id, group_id, choice_id, sort, price, is_default, is_active, component_item_id)
SELECT CAST($2 AS BIGINT), CAST($3 AS BIGINT), r.parent_id, r.group_id, r.choice_id, r.sort, r.price, r.is_default, r.is_active, r.component
FROM @rows($1: parent_id int, group_id int, choice_id int, sort int, price int, is_default int, is_active int, component int) AS r

-- name: version_copy_groups
-- As version_copy.
INSERT INTO menu_version_group
    (version_id, item_id, parent_id, group_id, sort, min_units, max_units, free_units, max_each, credit, defaults_charge)
SELECT $1, e.item_id, e.parent_id, e.group_id, e.sort, e.min_units, e.max_units, e.free_units, e.max_each, e.credit, e.defaults_charge
FROM menu_version_group e
JOIN menu_version v ON v.id = e.version_id
WHERE v.menu_id = $2 AND v.status = 'PUBLISHED'

-- name: version_copy_choices
INSERT INTO menu_version_choice
    (version_id, item_id, parent_id, group_id, choice_id, sort, price, is_default, is_active, component_item_id)
SELECT $1, e.item_id, e.parent_id, e.group_id, e.choice_id, e.sort, e.price, e.is_default, e.is_active, e.component_item_id
FROM menu_version_choice e
JOIN menu_version v ON v.id = e.version_id
WHERE v.menu_id = $2 AND v.status = 'PUBLISHED'

-- name: version_clear_groups
-- Changes drafts only (I13).
DELETE FROM menu_version_group
WHERE version_id IN (SELECT v.id FROM menu_version v WHERE v.id = $1 AND v.status = 'DRAFT')

-- name: version_clear_choices
DELETE FROM menu_version_choice
WHERE version_id IN (SELECT v.id FROM menu_version v WHERE v.id = $1 AND v.status = 'DRAFT')
