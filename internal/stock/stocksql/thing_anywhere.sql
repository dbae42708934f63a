-- Of messages that do not say in which branch: the reference's have no branches.
SELECT s.id, s.branch_id, s.sku, s.name, s.unit, coalesce(s.low_at, -1)
FROM stock_item s
JOIN @rows($1: sku text) AS r ON s.sku = r.sku
