-- A kitchen's board in one look: what is to be done (of today, and of the day before what was paid lately), what was served
-- lately or cleared because its money went back, and what is to be paid at the counter.
SELECT * FROM (
    SELECT 'tickets', o.id, o.branch_id, o.biz_date, coalesce(o.visit_id, ''), coalesce(o.guest_hash, ''), o.menu_version_id, o.hold_id, o.client_txn_id,
           o.number, o.status, o.payment_status, o.payment_method, coalesce(o.cancel_reason, ''), o.total_amount, o.currency,
           o.refunded_amount, coalesce(o.payment_ref, ''), o.kind, coalesce(o.user_id, 0), coalesce(o.receiver_name, ''),
           coalesce(o.receiver_phone, ''), coalesce(o.receiver_address, ''), coalesce(o.receiver_email, ''),
           o.pay_by, o.expires_at, coalesce(o.paid_at, 0), coalesce(o.canceled_at, 0), o.created_at, o.updated_at, o.version,
           coalesce(o.stepped_at, 0), o.void_seen, o.prolonged
    FROM order_info o
    WHERE o.branch_id = $1 AND o.biz_date IN ($2, $3) AND o.status IN ('PLACED', 'ACCEPTED', 'PREPARING', 'READY')
      AND o.void_seen = 0 AND o.payment_status IN ('PAID', 'REFUND_DUE', 'REFUNDED') AND (o.biz_date = $2 OR o.paid_at >= $4)
    ORDER BY o.paid_at, o.id
    LIMIT $6
) AS tickets
UNION ALL
SELECT * FROM (
    SELECT 'served', o.id, o.branch_id, o.biz_date, coalesce(o.visit_id, ''), coalesce(o.guest_hash, ''), o.menu_version_id, o.hold_id, o.client_txn_id,
           o.number, o.status, o.payment_status, o.payment_method, coalesce(o.cancel_reason, ''), o.total_amount, o.currency,
           o.refunded_amount, coalesce(o.payment_ref, ''), o.kind, coalesce(o.user_id, 0), coalesce(o.receiver_name, ''),
           coalesce(o.receiver_phone, ''), coalesce(o.receiver_address, ''), coalesce(o.receiver_email, ''),
           o.pay_by, o.expires_at, coalesce(o.paid_at, 0), coalesce(o.canceled_at, 0), o.created_at, o.updated_at, o.version,
           coalesce(o.stepped_at, 0), o.void_seen, o.prolonged
    FROM order_info o
    WHERE o.branch_id = $1 AND o.stepped_at >= $5 AND (o.status IN ('SERVED', 'COMPLETED') OR o.void_seen = 1)
    ORDER BY o.stepped_at DESC, o.id DESC
    LIMIT $6
) AS served
UNION ALL
SELECT * FROM (
    SELECT 'awaiting', o.id, o.branch_id, o.biz_date, coalesce(o.visit_id, ''), coalesce(o.guest_hash, ''), o.menu_version_id, o.hold_id, o.client_txn_id,
           o.number, o.status, o.payment_status, o.payment_method, coalesce(o.cancel_reason, ''), o.total_amount, o.currency,
           o.refunded_amount, coalesce(o.payment_ref, ''), o.kind, coalesce(o.user_id, 0), coalesce(o.receiver_name, ''),
           coalesce(o.receiver_phone, ''), coalesce(o.receiver_address, ''), coalesce(o.receiver_email, ''),
           o.pay_by, o.expires_at, coalesce(o.paid_at, 0), coalesce(o.canceled_at, 0), o.created_at, o.updated_at, o.version,
           coalesce(o.stepped_at, 0), o.void_seen, o.prolonged
    FROM order_info o
    WHERE o.branch_id = $1 AND o.biz_date IN ($2, $3) AND o.status IN ('PLACED', 'ACCEPTED', 'PREPARING', 'READY')
      AND o.void_seen = 0 AND o.payment_status = 'UNPAID' AND o.payment_method = 'COUNTER'
    ORDER BY o.created_at, o.id
    LIMIT $6
) AS awaiting
