SELECT s.dish_id, coalesce(d.names, '{}'), s.qty, s.gross
FROM (
    SELECT i.dish_id, CAST(sum(i.qty) AS BIGINT) AS qty, CAST(sum(i.qty * i.price_snapshot) AS BIGINT) AS gross
    FROM order_info o
    JOIN order_item i ON i.order_id = o.id
    WHERE o.branch_id = $1 AND o.biz_date >= $2 AND o.biz_date <= $3 AND o.paid_at IS NOT NULL
    GROUP BY i.dish_id
) s
LEFT JOIN dish d ON d.id = s.dish_id
ORDER BY s.gross DESC, s.qty DESC, s.dish_id
