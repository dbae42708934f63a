-- Sorted, so that two processes never wait for each other.
INSERT INTO stock_rank (item_id, score, updated_at)
SELECT s.id, r.reads, CAST($2 AS BIGINT)
FROM @rows($1: branch_id int, sku text, reads int) AS r
JOIN stock_item s ON s.branch_id = r.branch_id AND s.sku = r.sku
WHERE true
ORDER BY s.id
ON CONFLICT (item_id) DO UPDATE SET score = stock_rank.score + excluded.score
