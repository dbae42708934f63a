-- fragment: table_columns
t.id, t.branch_id, t.label, t.seats, t.section, t.active, t.plan_column, t.plan_row, t.shape

-- fragment: table_state
@table_columns, COALESCE(q.token, ''), b.currency,
       v.id, v.opened_at, v.called_bill, v.called_help, v.called_water,
       (SELECT COUNT(*) FROM visit_guest g WHERE g.visit_id = v.id),
       (SELECT COUNT(*) FROM order_info o WHERE o.visit_id = v.id AND o.status <> 'CANCELED'),
       (SELECT CAST(COALESCE(SUM(o.total_amount), 0) AS BIGINT)
        FROM order_info o WHERE o.visit_id = v.id AND o.payment_status IN ('UNPAID', 'CONFIRMING'))
FROM dining_table t
JOIN branch b ON b.id = t.branch_id
LEFT JOIN table_qr q ON q.table_id = t.id AND q.status = 'ACTIVE'
LEFT JOIN visit v ON v.table_id = t.id AND v.status = 'OPEN'

-- name: plan_lock
-- Prevents other transactions from changing the tables until the plan is saved. Every transaction that locks several tables
-- locks them in the order of their ids.
SELECT @table_columns
FROM dining_table t
WHERE t.branch_id = $1
ORDER BY t.id /*pg: FOR NO KEY UPDATE */

-- name: plan_update
UPDATE dining_table SET plan_column = r.plan_column, plan_row = r.plan_row, shape = r.shape
FROM @rows($1: id int, plan_column int, plan_row int, shape text) AS r
WHERE dining_table.id = r.id

-- name: qr_target
SELECT t.id, t.branch_id, t.label, q.status, t.active
FROM table_qr q
JOIN dining_table t ON t.id = q.table_id
WHERE q.token = $1

-- name: qr_insert
INSERT INTO table_qr (token, table_id, status, created_at) VALUES ($1, $2, 'ACTIVE', $3)

-- name: qr_lock
-- Prevents other transactions from disabling the table or revoking its token until the guest is added. It locks the table
-- first, as all transactions do.
SELECT q.status, t.active
FROM dining_table t
JOIN table_qr q ON q.table_id = t.id
WHERE q.token = $1 /*pg: FOR SHARE */

-- name: qr_revoke
UPDATE table_qr SET status = 'REVOKED', revoked_at = $2 WHERE table_id = $1 AND status = 'ACTIVE'

-- name: table_branch
SELECT branch_id FROM dining_table WHERE id = $1

-- name: table_insert
INSERT INTO dining_table (branch_id, label, seats, section) VALUES ($1, $2, $3, $4) RETURNING id

-- name: table_labels
SELECT label FROM dining_table WHERE branch_id = $1

-- name: table_list
-- Without the cast the parameter would have 32 bits, like the number that it is compared with first.
SELECT @table_state
WHERE CAST($1 AS BIGINT) = 0 OR t.branch_id = $1
ORDER BY t.branch_id, t.label, t.id

-- name: table_lock
-- Prevents other transactions from changing the table or opening a visit at it.
SELECT @table_columns
FROM dining_table t
WHERE t.id = $1 /*pg: FOR NO KEY UPDATE */

-- name: table_select
SELECT @table_state
WHERE t.id = $1

-- name: table_update
UPDATE dining_table SET label = $2, seats = $3, section = $4, active = $5, plan_column = $6, plan_row = $7 WHERE id = $1
