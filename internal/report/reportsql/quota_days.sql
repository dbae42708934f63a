SELECT c.stat_date, c.menu_item_id, coalesce(d.names, '{}'), c.cap, c.held_qty, c.used_qty, coalesce(l.newest, 0)
FROM sales_quota_counter c
LEFT JOIN menu_item m ON m.id = c.menu_item_id
LEFT JOIN dish d ON d.id = m.dish_id
LEFT JOIN (
    SELECT o.biz_date, i.menu_item_id, max(o.created_at) AS newest
    FROM order_info o
    JOIN order_item i ON i.order_id = o.id
    WHERE o.branch_id = $1 AND o.biz_date >= $2 AND o.biz_date <= $3 AND o.status <> 'CANCELED'
    GROUP BY o.biz_date, i.menu_item_id
) l ON l.biz_date = c.stat_date AND l.menu_item_id = c.menu_item_id
WHERE c.branch_id = $1 AND c.stat_date >= $2 AND c.stat_date <= $3 AND c.slot_key = 'ALL_DAY' AND c.cap IS NOT NULL
ORDER BY c.stat_date, c.menu_item_id
