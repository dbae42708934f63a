-- The dishes of a branch, whose prices follow its published menu. They are locked in their order, because another branch
-- may publish the same dishes at the same time.
UPDATE dish SET version = version + 1, updated_at = $2
WHERE id IN (
    SELECT id FROM dish WHERE id IN (SELECT dish_id FROM menu_item WHERE branch_id = $1)
    ORDER BY id /*pg: FOR NO KEY UPDATE */
)
RETURNING id
