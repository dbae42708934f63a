WITH RECURSIVE n (i) AS (SELECT CAST(1 AS BIGINT) UNION ALL SELECT i + 1 FROM n WHERE i < $1)
INSERT INTO order_info (id, branch_id, kind, menu_version_id, hold_id, client_txn_id, biz_date, number, status, payment_status,
                        payment_method, total_amount, currency, pay_by, expires_at, created_at, updated_at, user_id)
SELECT '06gvt0kfe5o015mr' || CAST(1000000000 + i AS TEXT), 1, 'DELIVERY', 1, CAST(i AS TEXT), CAST(i AS TEXT), '2026-02-26', i,
       'PLACED', 'UNPAID', 'COUNTER', 130000, 'VND', 1772082000000, 1772082000000, 1772082000000, 1772082000000,
       1 + i % $2
FROM n
