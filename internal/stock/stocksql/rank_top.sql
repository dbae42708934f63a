SELECT s.id, s.branch_id, s.sku, s.name, s.unit, coalesce(s.low_at, -1), v.available, v.reserved, v.sold
FROM stock_rank k
JOIN stock_item s ON s.id = k.item_id
JOIN inventory v ON v.branch_id = s.branch_id AND v.item_id = s.id
ORDER BY k.score DESC, k.item_id
LIMIT $1
