INSERT INTO order_info (id, branch_id, kind, menu_version_id, hold_id, client_txn_id, biz_date, number, status, payment_status,
                        payment_method, total_amount, currency, pay_by, expires_at, created_at, updated_at, user_id, payment_ref)
VALUES ($1, 1, 'DELIVERY', 1, $1, $1, '2026-02-26', 1, $2, 'UNPAID', 'VNPAY', 130000, 'VND', $3, $3, $3, $3, $4, $5)
ON CONFLICT (id) DO UPDATE SET status = excluded.status, payment_ref = excluded.payment_ref,
    updated_at = excluded.updated_at, version = order_info.version + 1
