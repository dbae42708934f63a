-- fragment: session_columns
s.id, s.user_id, s.token_hash, COALESCE(s.previous_hash, ''), COALESCE(s.next_token, ''), s.rotated_at, s.device,
s.address, s.created_at, s.last_seen_at, s.idle_until, s.expires_at, s.ended_at

-- name: revocation_list
SELECT id, kind, subject, created_at FROM auth_revocation WHERE created_at >= $1

-- name: revocation_purge
DELETE FROM auth_revocation WHERE id IN (SELECT v.id FROM auth_revocation v WHERE v.created_at < $1 LIMIT $2)

-- name: session_by_token
SELECT @session_columns
FROM auth_session s
WHERE s.token_hash = $1 /*pg: FOR UPDATE */

-- name: session_end
UPDATE auth_session SET ended_at = $3, end_reason = $4 WHERE id = $1 AND user_id = $2 AND ended_at IS NULL

-- name: session_end_all
-- Ends all sessions of an account except $4.
UPDATE auth_session SET ended_at = $2, end_reason = $3
WHERE user_id = $1 AND ended_at IS NULL AND id <> $4
RETURNING id

-- name: session_count_device
SELECT COUNT(*) FROM auth_session WHERE user_id = $1 AND device = $2 AND ended_at IS NULL

-- name: session_end_oldest
-- Ends the live sessions of an account except the newest $4.
UPDATE auth_session SET ended_at = $2, end_reason = $3
WHERE id IN (
    SELECT s.id FROM auth_session s
    WHERE s.user_id = $1 AND s.ended_at IS NULL AND s.expires_at > $2 AND s.idle_until > $2
    ORDER BY s.created_at DESC, s.id DESC
    LIMIT 1000 OFFSET $4
)
RETURNING id

-- name: session_find
SELECT @session_columns
FROM auth_session s
WHERE s.token_hash = $1 OR s.id = (SELECT t.session_id FROM auth_spent t WHERE t.token_hash = $1)

-- name: session_insert
INSERT INTO auth_session (id, user_id, token_hash, rotated_at, device, address, created_at, last_seen_at, idle_until, expires_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $7, $8, $9)

-- name: session_list
SELECT @session_columns
FROM auth_session s
WHERE s.user_id = $1 AND s.ended_at IS NULL AND s.expires_at > $2 AND s.idle_until > $2
ORDER BY s.created_at DESC, s.id DESC

-- name: session_lock
SELECT @session_columns
FROM auth_session s
WHERE s.id = $1 /*pg: FOR UPDATE */

-- name: session_purge
DELETE FROM auth_session
WHERE id IN (SELECT s.id FROM auth_session s WHERE s.ended_at < $1 OR s.expires_at < $1 LIMIT $2)

-- name: session_rotate
UPDATE auth_session
SET token_hash = $2, previous_hash = $3, next_token = $4, rotated_at = $5, last_seen_at = $5, idle_until = $6
WHERE id = $1

-- name: session_seen
UPDATE auth_session
SET last_seen_at = r.at, idle_until = CASE WHEN r.idle < auth_session.expires_at THEN r.idle ELSE auth_session.expires_at END
FROM @rows($1: id text, at int, idle int) AS r
WHERE auth_session.id = r.id AND auth_session.ended_at IS NULL AND auth_session.last_seen_at < r.at

-- name: session_active
SELECT s.user_id, u.role_id, r.name, s.created_at, s.expires_at, s.address,
       @branch_ids
FROM auth_session s
JOIN app_user u ON u.id = s.user_id
JOIN role r ON r.id = u.role_id
WHERE s.id = $1 AND s.ended_at IS NULL AND s.expires_at > $2 AND u.status = 'ACTIVE' AND s.created_at > u.valid_from

-- name: spent_insert
INSERT INTO auth_spent (token_hash, session_id, spent_at) VALUES ($1, $2, $3)

-- name: spent_purge
DELETE FROM auth_spent WHERE token_hash IN (SELECT t.token_hash FROM auth_spent t WHERE t.spent_at < $1 LIMIT $2)

-- name: spent_select
SELECT session_id FROM auth_spent WHERE token_hash = $1

-- name: replaced_access
-- Locks the accounts that lose their role or their login, in the order of their ids.
SELECT u.id, CASE WHEN u.status = 'ACTIVE' AND r.status <> 'ACTIVE' THEN 1 ELSE 0 END
FROM app_user u
JOIN @rows($1: id int, role int, status text) AS r ON u.id = r.id
WHERE u.role_id <> r.role OR (u.status = 'ACTIVE' AND r.status <> 'ACTIVE')
ORDER BY u.id /*pg: FOR UPDATE OF u */

-- name: replaced_access_end
UPDATE app_user SET valid_from = $2 WHERE id IN (SELECT r.id FROM @rows($1: id int) AS r)
