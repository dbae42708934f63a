SELECT o.id, o.user_id, o.receiver_name, o.receiver_phone, o.receiver_address, o.receiver_email, o.total_amount,
       o.currency, o.status, o.payment_method, o.payment_status, o.payment_ref, o.cancel_reason, o.branch_id, o.kind,
       o.visit_id, o.biz_date, o.number, o.pay_by, o.paid_at, o.canceled_at, o.created_at, o.updated_at, o.version
FROM order_info o
WHERE o.id /*pg: = ANY ($1) *//*sqlite: IN (SELECT id FROM @rows($1: id text)) */
