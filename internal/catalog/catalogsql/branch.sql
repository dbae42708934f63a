-- fragment: branch_columns
id, name, currency, timezone, biz_day_start_hour, locales, auto_close_minutes, is_open, revision,
paused_at, paused_until, pause_code, pause_texts, paused_by, country, hours, retired_at,
mail_from, shared_cart, pricing, COALESCE((SELECT s.slug FROM branch_slug s WHERE s.branch_id = branch.id AND s.is_current = 1), ''),
CASE WHEN EXISTS (SELECT 1 FROM order_number n WHERE n.branch_id = branch.id AND n.last > 0) THEN 1 ELSE 0 END,
CASE WHEN EXISTS (SELECT 1 FROM voucher v WHERE v.branch_id = branch.id AND v.ended_at IS NULL) THEN 1 ELSE 0 END

-- name: branch_by_key
SELECT id, digest FROM branch WHERE client_txn_id = $1

-- name: branch_busy
-- Counts open visits, and orders that are unpaid or not served yet. The plus keeps SQLite from reading all visits.
SELECT (SELECT COUNT(*) FROM visit v WHERE /*sqlite: + */v.branch_id = $1 AND v.status = 'OPEN'),
       (SELECT COUNT(*) FROM order_info o
        WHERE o.branch_id = $1 AND o.status <> 'CANCELED'
          AND (o.status IN ('PLACED', 'ACCEPTED', 'PREPARING', 'READY') OR o.payment_status IN ('UNPAID', 'CONFIRMING')))

-- name: branch_count
SELECT COUNT(*) FROM branch WHERE retired_at IS NULL

-- name: branch_insert
INSERT INTO branch (name, country, currency, timezone, biz_day_start_hour, locales, auto_close_minutes, is_open, created_at,
                    client_txn_id, digest, hours, shared_cart, pricing)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
RETURNING id

-- name: branch_list
SELECT @branch_columns
FROM branch
WHERE retired_at IS NULL
ORDER BY id

-- name: branch_list_retired
SELECT @branch_columns
FROM branch
WHERE retired_at IS NOT NULL
ORDER BY id

-- name: branch_lock
SELECT id FROM branch WHERE id = $1
/*pg: FOR NO KEY UPDATE */

-- name: branch_lock_category
SELECT b.id
FROM branch b
WHERE b.id IN (SELECT i.branch_id FROM menu_item i JOIN dish d ON d.id = i.dish_id WHERE d.category_id = $1)
ORDER BY b.id
/*pg: FOR NO KEY UPDATE OF b */

-- name: branch_lock_dish
-- Locks the branches that have a dish on a menu, by id. Changes to a dish or a category take these locks first.
SELECT b.id
FROM branch b
WHERE b.id IN (SELECT i.branch_id FROM menu_item i WHERE i.dish_id = $1)
ORDER BY b.id
/*pg: FOR NO KEY UPDATE OF b */

-- name: branch_lock_item
-- Transactions that change a branch's menus lock the branch's row.
SELECT b.id
FROM branch b
JOIN menu_item i ON i.branch_id = b.id
WHERE i.id = $1
/*pg: FOR NO KEY UPDATE OF b */

-- name: branch_lock_menu
SELECT b.id
FROM branch b
JOIN menu m ON m.branch_id = b.id
WHERE m.id = $1
/*pg: FOR NO KEY UPDATE OF b */

-- name: branch_lock_version
SELECT b.id
FROM branch b
JOIN menu_version v ON v.branch_id = b.id
WHERE v.id = $1
/*pg: FOR NO KEY UPDATE OF b */

-- name: branch_retire
UPDATE branch SET retired_at = $2, revision = revision + 1 WHERE id = $1

-- name: branch_select
SELECT @branch_columns
FROM branch
WHERE id = $1

-- name: branch_touch
UPDATE branch SET revision = revision + 1 WHERE id = $1

-- name: branch_update
UPDATE branch
SET country = $13, currency = $14, timezone = $15, name = $2, biz_day_start_hour = $3, locales = $4, auto_close_minutes = $5, is_open = $6, revision = revision + 1,
    paused_at = $7, paused_until = $8, pause_code = $9, pause_texts = $10, paused_by = $11, hours = $12,
    mail_from = $16, shared_cart = $17, pricing = $18
WHERE id = $1

-- name: slug_claim
-- If another transaction is inserting the name, this statement waits for its end.
INSERT INTO branch_slug (slug, branch_id, is_current, created_at) VALUES ($1, $2, 0, $3)
ON CONFLICT (slug) DO NOTHING

-- name: slug_missing
SELECT id FROM branch
WHERE NOT EXISTS (SELECT 1 FROM branch_slug s WHERE s.branch_id = branch.id AND s.is_current = 1)
ORDER BY id

-- name: slug_owner
SELECT branch_id FROM branch_slug WHERE slug = $1

-- name: slug_retire
UPDATE branch_slug SET is_current = 0 WHERE branch_id = $1 AND is_current = 1

-- name: slug_use
UPDATE branch_slug SET is_current = 1 WHERE slug = $1
