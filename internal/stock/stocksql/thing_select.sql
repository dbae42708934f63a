SELECT s.id, s.branch_id, s.sku, s.name, s.unit, coalesce(s.low_at, -1) FROM stock_item s WHERE s.id = $1
