INSERT INTO recipe_line (menu_item_id, item_id, qty)
SELECT CAST($2 AS BIGINT), r.item, r.qty FROM @rows($1: item int, qty int) AS r
