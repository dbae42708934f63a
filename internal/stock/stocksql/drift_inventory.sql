SELECT v.branch_id, v.item_id, i.sku, v.available, v.reserved, v.sold, coalesce(a.units, 0)
FROM inventory v
JOIN stock_item i ON i.id = v.item_id
LEFT JOIN (SELECT item_id, sum(units) AS units FROM stock_adjustment GROUP BY item_id) a ON a.item_id = v.item_id
WHERE CAST($1 AS BIGINT) = 0 OR v.branch_id = $1
ORDER BY v.branch_id, i.sku
