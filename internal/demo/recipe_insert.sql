INSERT INTO recipe_line (menu_item_id, item_id, qty)
SELECT r.menu_item_id, r.item_id, r.qty FROM @rows($1: menu_item_id int, item_id int, qty int) AS r
