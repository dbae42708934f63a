INSERT INTO stock_item (id, branch_id, sku, name, unit, low_at, created_at, updated_at)
SELECT r.id, r.branch_id, r.sku, r.name, r.unit, r.low_at, $2, $2
FROM @rows($1: id int, branch_id int, sku text, name text, unit text, low_at int) AS r
