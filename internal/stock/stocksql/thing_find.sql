SELECT s.id, s.branch_id, s.sku, s.name, s.unit, coalesce(s.low_at, -1)
FROM stock_item s
JOIN @rows($1: branch_id int, sku text) AS r ON s.branch_id = r.branch_id AND s.sku = r.sku
