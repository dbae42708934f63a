SELECT v.branch_id, count(CASE WHEN v.available <= s.low_at THEN 1 END)
FROM inventory v
JOIN stock_item s ON s.id = v.item_id
GROUP BY v.branch_id
ORDER BY v.branch_id
