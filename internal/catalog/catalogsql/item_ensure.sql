-- The dish is locked, so that it is not retired while it is put on a menu for the first time.
INSERT INTO menu_item (menu_id, branch_id, dish_id)
SELECT v.menu_id, v.branch_id, d.id
FROM menu_version v, dish d
WHERE v.id = $1 AND d.id = $2 AND d.retired_at IS NULL
/*pg: FOR SHARE OF d*/
ON CONFLICT (menu_id, dish_id) DO NOTHING
