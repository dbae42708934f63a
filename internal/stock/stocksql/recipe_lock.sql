-- The menu item's row is the lock under which its recipe changes.
SELECT m.branch_id FROM menu_item m WHERE m.id = $1
/*pg: FOR NO KEY UPDATE*/
