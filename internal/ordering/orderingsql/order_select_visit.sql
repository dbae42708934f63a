SELECT o.id, o.branch_id, o.biz_date, coalesce(o.visit_id, ''), coalesce(o.guest_hash, ''), o.menu_version_id, o.hold_id, o.client_txn_id,
       o.number, o.status, o.payment_status, o.payment_method, coalesce(o.cancel_reason, ''), o.total_amount, o.currency,
       o.refunded_amount, coalesce(o.payment_ref, ''), o.kind, coalesce(o.user_id, 0), coalesce(o.receiver_name, ''),
       coalesce(o.receiver_phone, ''), coalesce(o.receiver_address, ''), coalesce(o.receiver_email, ''),
       o.pay_by, o.expires_at, coalesce(o.paid_at, 0), coalesce(o.canceled_at, 0), o.created_at, o.updated_at, o.version,
       coalesce(o.stepped_at, 0), o.void_seen, o.prolonged
FROM order_info o
WHERE o.visit_id = $1
ORDER BY o.created_at DESC, o.id DESC
LIMIT $2 OFFSET $3
