SELECT v.item_id, v.available, v.reserved, v.sold FROM inventory v WHERE v.branch_id = $1 ORDER BY v.item_id
