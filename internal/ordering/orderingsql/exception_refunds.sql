SELECT f.id, f.order_id, o.number, o.biz_date, f.method, f.amount, f.currency, f.state, f.reason, f.code, f.created_at
FROM refund f
JOIN order_info o ON o.id = f.order_id
WHERE f.state <> 'DONE' AND o.branch_id = $1
ORDER BY f.created_at
LIMIT $2
