INSERT INTO inventory (branch_id, item_id)
SELECT s.branch_id, s.id FROM stock_item s WHERE s.branch_id = $1 AND s.sku = $2
ON CONFLICT DO NOTHING
