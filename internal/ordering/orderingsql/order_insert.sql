INSERT INTO order_info (
    id, branch_id, kind, visit_id, guest_hash, menu_version_id, hold_id, client_txn_id, biz_date, number, status,
    payment_status, payment_method, cancel_reason, total_amount, currency, pay_by, expires_at, paid_at, canceled_at,
    created_at, updated_at, version, payment_ref, user_id, receiver_name,
    receiver_phone, receiver_address, receiver_email)
SELECT r.id, r.branch_id, r.kind, r.visit_id, r.guest_hash, r.menu_version_id, r.hold_id, r.client_txn_id, r.biz_date,
       r.number, r.status, r.payment_status, r.payment_method, r.cancel_reason, r.total, r.currency, r.pay_by, r.expires_at,
       r.paid_at, r.canceled_at, r.created_at, r.updated_at, r.version, r.payment_ref, r.user_id, r.receiver_name,
       r.receiver_phone, r.receiver_address, r.receiver_email
FROM @rows($1: id text, branch_id int, visit_id text, guest_hash text, menu_version_id int, hold_id text, client_txn_id text, biz_date text, number int, status text, payment_status text, payment_method text, cancel_reason text, total int, currency text, pay_by int, expires_at int, paid_at int, canceled_at int, created_at int, updated_at int, version int, payment_ref text, kind text, user_id int, receiver_name text, receiver_phone text, receiver_address text, receiver_email text) AS r
