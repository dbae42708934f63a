-- An empty text chooses all; $3 = 1 chooses those for which an alarm stands.
SELECT count(*)
FROM stock_item s
JOIN inventory v ON v.branch_id = s.branch_id AND v.item_id = s.id
WHERE s.branch_id = $1
  AND (CAST($2 AS TEXT) = '' OR lower(s.sku) LIKE $2 ESCAPE '!' OR lower(s.name) LIKE $2 ESCAPE '!')
  AND (CAST($3 AS BIGINT) = 0 OR v.available <= s.low_at)
