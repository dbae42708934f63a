DELETE FROM recipe_line WHERE menu_item_id = $1
