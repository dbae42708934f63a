INSERT INTO order_info (
    id, branch_id, kind, visit_id, guest_hash, menu_version_id, hold_id, client_txn_id, biz_date, number, status,
    payment_status, payment_method, cancel_reason, total_amount, currency, pay_by, expires_at, paid_at, canceled_at,
    created_at, updated_at, version)
SELECT r.id, 9000, 'DINE_IN', CAST($5 AS TEXT), CAST($6 AS TEXT), 9000, r.id, r.key, CAST($2 AS TEXT), r.number,
       'PLACED', 'UNPAID', 'COUNTER', NULL, 90000, 'VND', CAST($4 AS BIGINT), CAST($4 AS BIGINT), NULL, NULL,
       CAST($3 AS BIGINT), CAST($3 AS BIGINT), 1
FROM @rows($1: id text, key text, number int) AS r
