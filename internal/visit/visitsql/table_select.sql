SELECT t.id, t.branch_id, t.label, t.seats, t.active, COALESCE(q.token, ''), b.currency,
       v.id, v.opened_at, v.called_bill, v.called_help, v.called_water,
       (SELECT COUNT(*) FROM visit_guest g WHERE g.visit_id = v.id),
       (SELECT COUNT(*) FROM order_info o WHERE o.visit_id = v.id AND o.status <> 'CANCELED'),
       (SELECT CAST(COALESCE(SUM(o.total_amount), 0) AS BIGINT)
        FROM order_info o WHERE o.visit_id = v.id AND o.payment_status IN ('UNPAID', 'CONFIRMING'))
FROM dining_table t
JOIN branch b ON b.id = t.branch_id
LEFT JOIN table_qr q ON q.table_id = t.id AND q.status = 'ACTIVE'
LEFT JOIN visit v ON v.table_id = t.id AND v.status = 'OPEN'
WHERE t.id = $1
