-- Lines of stock items that the hold's branch does not have: they would be missing from the comparison of the stock.
SELECT h.branch_id, l.item_id, count(*)
FROM hold h JOIN hold_line l ON l.hold_id = h.id
WHERE (CAST($1 AS BIGINT) = 0 OR h.branch_id = $1) AND h.state IN ('HELD', 'CONFIRMED') AND l.stock = 1 AND NOT EXISTS (
    SELECT 1 FROM inventory v WHERE v.branch_id = h.branch_id AND v.item_id = l.item_id)
GROUP BY h.branch_id, l.item_id
ORDER BY h.branch_id, l.item_id
