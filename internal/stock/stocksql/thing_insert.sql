-- Of a branch that is not there nothing is made.
INSERT INTO stock_item (branch_id, sku, created_at, updated_at)
SELECT b.id, CAST($2 AS TEXT), CAST($3 AS BIGINT), CAST($3 AS BIGINT) FROM branch b WHERE b.id = $1
ON CONFLICT DO NOTHING
