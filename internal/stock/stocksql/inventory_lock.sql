SELECT v.item_id, v.available, v.reserved, v.sold
FROM inventory v
JOIN @rows($1: branch_id int, item int) AS r ON v.branch_id = r.branch_id AND v.item_id = r.item
ORDER BY v.branch_id, v.item_id
/*pg: FOR UPDATE OF v*/
