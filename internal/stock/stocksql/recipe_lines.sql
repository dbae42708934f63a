SELECT s.sku, l.qty
FROM recipe_line l
JOIN stock_item s ON s.id = l.item_id
WHERE l.menu_item_id = $1
ORDER BY s.sku
