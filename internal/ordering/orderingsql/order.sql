-- fragment: hold_of
-- The id of the order's hold. The column is empty for the first hold, which has the order's id.
CASE o.hold_id WHEN '' THEN o.id ELSE o.hold_id END

-- fragment: order_columns
-- Orders and lines of shared carts that were stored before migration 58 have the whole hash of the phone, later ones 20 digits.
o.id, o.branch_id, o.biz_date, coalesce(o.visit_id, ''), coalesce(substr(o.guest_hash, 1, 20), ''), o.menu_version_id, @hold_of,
o.client_txn_id, o.digest,
o.number, o.status, o.payment_status, o.payment_method, coalesce(o.cancel_reason, ''), o.total_amount, o.currency,
o.refunded_amount, coalesce(o.payment_ref, ''), o.kind, coalesce(o.user_id, 0), coalesce(o.receiver_name, ''),
coalesce(o.receiver_phone, ''), coalesce(o.receiver_address, ''), coalesce(o.receiver_email, ''),
coalesce(o.receiver_note, ''),
o.pay_by, o.expires_at, coalesce(o.paid_at, 0), coalesce(o.canceled_at, 0), o.created_at, o.updated_at, o.version,
coalesce(o.stepped_at, 0), o.void_seen, o.prolonged, coalesce(o.quote, ''), coalesce(o.discount_amount, 0),
coalesce(o.service_amount, 0), coalesce(o.tax_amount, 0), coalesce(o.voucher_id, 0)

-- name: item_done
UPDATE order_item SET done_at = r.done_at
FROM @rows($1: order_id text, line int, done_at int) AS r
WHERE order_item.order_id = r.order_id AND order_item.line = r.line

-- name: item_insert
INSERT INTO order_item (order_id, line, menu_item_id, dish_id, name_id, price_snapshot, qty, notes, options)
SELECT r.order_id, r.line, r.item, r.dish, r.name, r.price, r.qty, r.notes, r.options
FROM @rows($1: order_id text, line int, item int, dish int, name int, price int, qty int, notes text, options text) AS r

-- name: item_name_ids
SELECT n.digest, n.id FROM item_name n JOIN @rows($1: digest text) AS r ON n.digest = r.digest

-- name: item_name_insert
INSERT INTO item_name (digest, name, names)
SELECT r.digest, r.name, r.names FROM @rows($1: digest text, name text, names text) AS r
WHERE true
ORDER BY r.digest
ON CONFLICT DO NOTHING

-- name: item_select
-- The outer join keeps a line whose names are missing, so that no dish is left out of an order.
SELECT i.order_id, i.menu_item_id, i.dish_id, i.name_id, coalesce(n.name, ''), coalesce(n.names, ''), i.price_snapshot,
       i.qty, i.notes, coalesce(i.done_at, 0), i.options
FROM order_item i
JOIN @rows($1: id text) AS r ON i.order_id = r.id
LEFT JOIN item_name n ON n.id = i.name_id
ORDER BY i.order_id, i.line

-- name: number_ensure
INSERT INTO order_number (branch_id, biz_date, last)
SELECT r.branch_id, r.biz_date, 0 FROM @rows($1: branch_id int, biz_date text) AS r
WHERE NOT EXISTS (SELECT 1 FROM order_number n WHERE n.branch_id = r.branch_id AND n.biz_date = r.biz_date)
ORDER BY r.branch_id, r.biz_date
ON CONFLICT DO NOTHING

-- name: number_lock
-- CROSS JOIN makes SQLite read the rows first, see counter_lock.
SELECT n.branch_id, n.biz_date, n.last
FROM @rows($1: branch_id int, biz_date text) AS r
/*sqlite: CROSS*/ JOIN order_number n ON n.branch_id = r.branch_id AND n.biz_date = r.biz_date
ORDER BY n.branch_id, n.biz_date
/*pg: FOR UPDATE OF n*/

-- name: number_set
UPDATE order_number SET last = r.last
FROM @rows($1: branch_id int, biz_date text, last int) AS r
WHERE order_number.branch_id = r.branch_id AND order_number.biz_date = r.biz_date

-- name: option_off
-- Returns which of these options are off in their branch.
SELECT o.branch_id, o.choice_id
FROM choice_off o
JOIN @rows($1: branch_id int, choice_id int) AS r ON o.branch_id = r.branch_id AND o.choice_id = r.choice_id

-- name: open_select
-- Returns which of these visits are open, which menu versions are published and which branches are paused at $4
-- or retired.
SELECT 'visit', v.id FROM visit v JOIN @rows($1: id text) AS r ON v.id = r.id WHERE v.status = 'OPEN'
UNION ALL
SELECT 'version', CAST(m.id AS TEXT) FROM menu_version m JOIN @rows($2: id int) AS r ON m.id = r.id WHERE m.status = 'PUBLISHED'
UNION ALL
SELECT 'paused', CAST(b.id AS TEXT)
FROM branch b
JOIN @rows($3: id int) AS r ON b.id = r.id
WHERE b.retired_at IS NOT NULL OR b.paused_at IS NOT NULL AND (b.paused_until IS NULL OR b.paused_until > $4)

-- name: order_count_member
SELECT count(*) FROM order_info o WHERE o.user_id = $1

-- name: order_count_visit
SELECT count(*) FROM order_info o WHERE o.visit_id = $1

-- name: order_deadline_move
-- Shifts unpaid orders that still hold units by $1 milliseconds; $2 is the current time. An order's first hold has the
-- order's id. created_at moves as well, because payment windows count from it.
UPDATE order_info
SET pay_by = pay_by + $1, expires_at = expires_at + $1, created_at = created_at + $1, updated_at = $2, version = version + 1
WHERE payment_status IN ('UNPAID', 'CONFIRMING')
  AND id IN (SELECT h.id FROM hold h WHERE h.state = 'HELD' AND h.biz_date <> '')
RETURNING id, branch_id

-- name: order_holds
SELECT @hold_of FROM order_info o JOIN @rows($1: id text) AS r ON o.id = r.id

-- name: order_insert
INSERT INTO order_info (
    id, branch_id, kind, visit_id, guest_hash, menu_version_id, hold_id, client_txn_id, digest, biz_date, number, status,
    payment_status, payment_method, cancel_reason, total_amount, currency, pay_by, expires_at, paid_at, canceled_at,
    created_at, updated_at, version, payment_ref, user_id, receiver_name,
    receiver_phone, receiver_address, receiver_email, receiver_note, quote, discount_amount, service_amount, tax_amount,
    voucher_id)
SELECT r.id, r.branch_id, r.kind, r.visit_id, r.guest_hash, r.menu_version_id, r.hold_id, r.client_txn_id, r.digest, r.biz_date,
       r.number, r.status, r.payment_status, r.payment_method, r.cancel_reason, r.total, r.currency, r.pay_by, r.expires_at,
       r.paid_at, r.canceled_at, r.created_at, r.updated_at, r.version, r.payment_ref, r.user_id, r.receiver_name,
       r.receiver_phone, r.receiver_address, r.receiver_email, r.receiver_note, r.quote, r.discount, r.service, r.tax,
       r.voucher_id
FROM @rows($1: id text, branch_id int, visit_id text, guest_hash text, menu_version_id int, hold_id text, client_txn_id text, digest text, biz_date text, number int, status text, payment_status text, payment_method text, cancel_reason text, total int, currency text, pay_by int, expires_at int, paid_at int, canceled_at int, created_at int, updated_at int, version int, payment_ref text, kind text, user_id int, receiver_name text, receiver_phone text, receiver_address text, receiver_email text, receiver_note text, quote text, discount int, service int, tax int, voucher_id int) AS r

-- name: order_ids_guest_key
-- Ids of the orders of order_select_guest_key. Most keys have none, and then these few columns take half the time.
SELECT o.id
FROM order_info o
JOIN @rows($1: branch_id int, key text) AS r ON o.branch_id = r.branch_id AND o.client_txn_id = r.key

-- name: order_ids_member_key
SELECT o.id
FROM order_info o
JOIN @rows($1: user_id int, key text) AS r ON o.user_id = r.user_id AND o.client_txn_id = r.key

-- name: order_lock
SELECT @order_columns
FROM order_info o
JOIN @rows($1: id text) AS r ON o.id = r.id
ORDER BY o.id
/*pg: FOR UPDATE OF o*/

-- name: order_select
SELECT @order_columns
FROM order_info o
JOIN @rows($1: id text) AS r ON o.id = r.id

-- name: order_select_guest_key
-- Orders by the idempotency keys of guests, which are unique within the branch.
SELECT @order_columns
FROM order_info o
JOIN @rows($1: branch_id int, key text) AS r ON o.branch_id = r.branch_id AND o.client_txn_id = r.key

-- name: order_select_member_key
-- Orders by the idempotency keys of members, which are unique in all branches.
SELECT @order_columns
FROM order_info o
JOIN @rows($1: user_id int, key text) AS r ON o.user_id = r.user_id AND o.client_txn_id = r.key

-- name: order_select_member
SELECT @order_columns
FROM order_info o
WHERE o.user_id = $1
ORDER BY o.created_at DESC, o.id DESC
LIMIT $2 OFFSET $3

-- name: order_select_visit
SELECT @order_columns
FROM order_info o
WHERE o.visit_id = $1
ORDER BY o.created_at DESC, o.id DESC
LIMIT $2 OFFSET $3

-- name: visit_phones
-- Returns the phones of a visit in the order of their numbers. Ids break ties between first orders of one millisecond.
-- Lines of the shared cart count like orders, even after their removal, so that a phone has the same number on the cart
-- and on the bill.
SELECT p.phone
FROM (
    SELECT substr(o.guest_hash, 1, 20) AS phone, o.created_at, o.id
    FROM order_info o WHERE o.visit_id = $1 AND o.guest_hash IS NOT NULL
    UNION ALL
    SELECT substr(l.guest_hash, 1, 20), l.created_at, l.id FROM visit_cart_line l WHERE l.visit_id = $1
) AS p
GROUP BY p.phone
ORDER BY min(p.created_at), min(p.id)

-- name: order_update
-- Versions only grow. The condition on them, together with QueueExactly, aborts a transaction that would overwrite a
-- newer state.
UPDATE order_info
SET hold_id = r.hold_id, status = r.status, payment_status = r.payment_status, payment_method = r.payment_method,
    payment_ref = r.payment_ref, cancel_reason = r.cancel_reason, refunded_amount = r.refunded, pay_by = r.pay_by,
    prolonged = r.prolonged, expires_at = r.expires_at, paid_at = r.paid_at, canceled_at = r.canceled_at, updated_at = r.updated_at,
    version = r.version, stepped_at = r.stepped_at, void_seen = r.void_seen
FROM @rows($1: id text, hold_id text, status text, payment_status text, payment_method text, payment_ref text, cancel_reason text, refunded int, pay_by int, prolonged int, expires_at int, paid_at int, canceled_at int, updated_at int, version int, stepped_at int, void_seen int) AS r
WHERE order_info.id = r.id AND order_info.version < r.version

-- name: order_reprice
-- Stores the total of orders that got or lost a discount. order_update stores their version.
UPDATE order_info
SET total_amount = r.total, quote = r.quote, discount_amount = r.discount, service_amount = r.service, tax_amount = r.tax
FROM @rows($1: id text, total int, quote text, discount int, service int, tax int) AS r
WHERE order_info.id = r.id

-- name: overdue_select
-- Takes no locks: the ledger checks each order again under its own locks. An order's first hold has the order's id.
SELECT x.id
FROM (
    SELECT h.expires_at, coalesce(
        (SELECT o.id FROM order_info o WHERE o.id = h.id AND o.hold_id IN ('', h.id)),
        (SELECT o.id FROM order_info o WHERE o.hold_id = h.id AND o.hold_id <> o.id AND o.hold_id <> '')) AS id
    FROM hold h
    WHERE h.biz_date <> '' AND h.state = 'HELD' AND h.expires_at <= $1
) AS x
WHERE x.id IS NOT NULL
ORDER BY x.expires_at
LIMIT $2

-- name: step_insert
INSERT INTO order_step (order_id, version, at, from_status, to_status, actor)
SELECT r.order_id, r.version, r.at, r.from_status, r.to_status, r.actor
FROM @rows($1: order_id text, version int, at int, from_status text, to_status text, actor text) AS r

-- name: step_select
SELECT s.order_id, s.version, s.at, s.from_status, s.to_status, s.actor
FROM order_step s
JOIN @rows($1: id text) AS r ON s.order_id = r.id
ORDER BY s.order_id, s.version

-- name: unpaid_count
SELECT o.visit_id, substr(o.guest_hash, 1, 20), count(*)
FROM order_info o
JOIN @rows($1: id text) AS r ON o.visit_id = r.id
WHERE o.payment_status IN ('UNPAID', 'CONFIRMING')
GROUP BY o.visit_id, substr(o.guest_hash, 1, 20)

-- name: unpaid_count_member
SELECT o.user_id, count(*)
FROM order_info o
JOIN @rows($1: id int) AS r ON o.user_id = r.id
WHERE o.payment_status IN ('UNPAID', 'CONFIRMING')
GROUP BY o.user_id

-- name: version_select
SELECT o.id, o.version
FROM order_info o
JOIN @rows($1: id text) AS r ON o.id = r.id
