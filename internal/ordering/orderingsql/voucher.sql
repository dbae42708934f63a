-- fragment: voucher_columns
v.item_id, v.branch_id, v.hint, v.discount, v.once_per_member, coalesce(v.max_uses, 0), v.min_goods, v.from_date,
v.until_date, v.created_at, n.available, n.reserved, n.sold

-- fragment: voucher_source
FROM voucher v
JOIN inventory n ON n.branch_id = v.branch_id AND n.item_id = v.item_id

-- name: voucher_branch_lock
-- Transactions that change what a branch's menu shows lock the branch's row.
SELECT b.id FROM branch b WHERE b.id = $1
/*pg: FOR NO KEY UPDATE*/

-- name: voucher_branch_touch
UPDATE branch SET revision = revision + 1 WHERE id = $1

-- name: voucher_count
SELECT count(*) FROM voucher v WHERE v.branch_id = $1 AND v.ended_at IS NULL

-- name: voucher_end
UPDATE voucher SET ended_at = $3 WHERE branch_id = $1 AND item_id = $2 AND ended_at IS NULL

-- name: voucher_find
SELECT @voucher_columns
@voucher_source
WHERE v.branch_id = $1 AND v.code_hash = $2 AND v.ended_at IS NULL

-- name: voucher_insert
INSERT INTO voucher (item_id, branch_id, code_hash, hint, discount, max_uses, once_per_member, min_goods, from_date, until_date,
                     created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)

-- name: voucher_list
SELECT @voucher_columns
@voucher_source
WHERE v.branch_id = $1 AND v.ended_at IS NULL
ORDER BY v.item_id DESC

-- name: voucher_orders
-- Returns the orders of members with vouchers that each member may use once, and an empty id if there is none.
SELECT r.voucher_id, r.user_id, coalesce(o.id, '')
FROM @rows($1: voucher_id int, user_id int) AS r
JOIN voucher v ON v.item_id = r.voucher_id AND v.once_per_member = 1
LEFT JOIN order_info o ON o.voucher_id = r.voucher_id AND o.user_id = r.user_id AND o.status <> 'CANCELED'

-- name: voucher_select
SELECT @voucher_columns
@voucher_source
WHERE v.branch_id = $1 AND v.item_id = $2 AND v.ended_at IS NULL

-- name: voucher_update
UPDATE voucher SET max_uses = $3, min_goods = $4, from_date = $5, until_date = $6
WHERE branch_id = $1 AND item_id = $2 AND ended_at IS NULL

-- name: voucher_used_by
SELECT count(*) FROM order_info o WHERE o.voucher_id = $1 AND o.user_id = $2 AND o.status <> 'CANCELED'
