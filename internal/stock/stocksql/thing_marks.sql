-- Read once the counters are locked: in the statement that locks them it would be what it was before the wait.
SELECT s.id, s.branch_id, s.sku, coalesce(s.low_at, -1)
FROM stock_item s
JOIN @rows($1: item int) AS r ON s.id = r.item
