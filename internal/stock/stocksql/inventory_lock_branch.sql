SELECT v.item_id, v.available, v.reserved, v.sold
FROM inventory v
WHERE v.branch_id = $1
ORDER BY v.branch_id, v.item_id
/*pg: FOR UPDATE*/
