-- name: flag_count
SELECT COUNT(*) FROM account_flag WHERE user_id = $1

-- name: flag_delete
DELETE FROM account_flag WHERE id = $1 AND user_id = $2
RETURNING id, user_id, kind, COALESCE(order_id, ''), note, created_at, created_by

-- name: flag_insert
INSERT INTO account_flag (id, user_id, kind, order_id, note, created_at, created_by)
SELECT r.id, r.user_id, r.kind, r.order_id, r.note, $2, r.created_by
FROM @rows($1: id text, user_id int, kind text, order_id text, note text, created_by text) AS r
WHERE 1 = 1
ON CONFLICT (user_id, kind, order_id) DO NOTHING
RETURNING user_id

-- name: flag_list
SELECT id, user_id, kind, COALESCE(order_id, ''), note, created_at, created_by
FROM account_flag WHERE user_id = $1 ORDER BY created_at DESC, id DESC LIMIT $2 OFFSET $3

-- name: flag_order
SELECT COUNT(*) FROM order_info WHERE id = $1 AND user_id = $2

-- name: flag_purge
DELETE FROM account_flag WHERE user_id IN (SELECT u.id FROM @rows($1: id int) AS u) AND created_at < $2

-- name: flag_users
-- A page of the accounts with flags, and of those whose flags are all gone but still stored with the account.
SELECT id FROM app_user u
WHERE id > $1 AND (fraud_flags IS NOT NULL OR EXISTS (SELECT 1 FROM account_flag f WHERE f.user_id = u.id))
ORDER BY id LIMIT $2

-- name: flag_kinds
SELECT user_id, kind FROM account_flag
WHERE user_id IN (SELECT u.id FROM @rows($1: id int) AS u) AND created_at >= $2
ORDER BY user_id

-- name: flag_remove_expired
DELETE FROM account_flag
WHERE user_id IN (SELECT u.id FROM @rows($1: id int) AS u) AND kind = 'EXPIRED_ORDER'
  AND order_id IN (SELECT o.id FROM @rows($2: id text) AS o)
RETURNING user_id

-- name: trust_lock
-- Accounts are locked in the order of ids. Staff have no flags.
SELECT u.id FROM app_user u JOIN role r ON r.id = u.role_id
WHERE u.id IN (SELECT w.id FROM @rows($1: id int) AS w) AND r.name = 'USER'
ORDER BY u.id /*pg: FOR NO KEY UPDATE OF u */

-- name: trust_score
SELECT trust_score FROM app_user WHERE id = $1

-- name: trust_save
UPDATE app_user SET trust_score = r.score, fraud_flags = r.flags, updated_at = $2, version = version + 1
FROM @rows($1: id int, score int, flags text) AS r
WHERE app_user.id = r.id AND (trust_score <> r.score OR COALESCE(fraud_flags, '') <> COALESCE(r.flags, ''))
RETURNING app_user.id
