-- One page of the holds of a business date in a state, with their lines of quotas ($7 = 0) or of stock (1). A hold
-- without such lines has one row without an item, so that the page is known to be full. hold_scope has this order.
SELECT h.id, h.branch_id, h.biz_date, h.state, h.expires_at, l.stock, l.item_id, l.qty
FROM (
    SELECT a.id, a.branch_id, a.biz_date, a.state, a.expires_at FROM hold a
    WHERE a.branch_id = $1 AND a.biz_date = $2 AND a.state = $3 AND a.updated_at >= $4 AND a.id > $5
    ORDER BY a.id
    LIMIT $6
) AS h
LEFT JOIN hold_line l ON l.hold_id = h.id AND l.stock = $7
ORDER BY h.id, l.item_id
