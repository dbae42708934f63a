-- fragment: subscription_live
-- A member's subscription ends with its login.
(s.session_id IS NULL OR EXISTS (
    SELECT 1 FROM auth_session a
    WHERE a.id = s.session_id AND a.ended_at IS NULL AND a.expires_at > $2 AND a.idle_until > $2
))

-- name: push_targets
SELECT n.id, s.id, s.locale
FROM @rows($1: id text, audience text, kind text, push int) AS n
JOIN push_subscription s ON s.audience = n.audience
LEFT JOIN notice_choice c ON c.reader = s.reader AND c.kind = n.kind
WHERE COALESCE(c.push, n.push) = 1 AND @subscription_live

-- name: push_queue
INSERT INTO push_outbox (id, subscription_id, payload, urgency, created_at, available_at, expires_at)
SELECT r.id, r.subscription_id, r.payload, r.urgency, $2, $2, r.expires_at
FROM @rows($1: id text, subscription_id text, payload text, urgency text, expires_at int) AS r

-- name: push_deadline_move
UPDATE push_outbox SET created_at = created_at + $1, available_at = available_at + $1, expires_at = expires_at + $1
WHERE dead = 0

-- name: push_purge
DELETE FROM push_outbox WHERE dead = 1 AND created_at < $1

-- name: subscription_select
SELECT s.id, s.reader, s.audience, COALESCE(s.session_id, ''), s.endpoint, s.p256dh, s.auth, s.locale, s.created_at
FROM push_subscription s
WHERE s.id = $1 AND @subscription_live

-- name: subscription_put
INSERT INTO push_subscription (id, reader, audience, session_id, endpoint, p256dh, auth, locale, created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
ON CONFLICT (id) DO UPDATE
SET reader = excluded.reader, audience = excluded.audience, session_id = excluded.session_id, p256dh = excluded.p256dh,
    auth = excluded.auth, locale = excluded.locale, created_at = excluded.created_at

-- name: subscription_trim
DELETE FROM push_subscription
WHERE reader = $1 AND id NOT IN (
    SELECT id FROM push_subscription WHERE reader = $1 ORDER BY created_at DESC, id DESC LIMIT $2
)

-- name: subscription_delete
DELETE FROM push_subscription WHERE id = $1 AND reader = $2

-- name: subscription_gone
DELETE FROM push_subscription WHERE id = $1

-- name: subscription_purge
DELETE FROM push_subscription
WHERE session_id IS NULL AND created_at < $1
   OR session_id IS NOT NULL AND NOT EXISTS (
       SELECT 1 FROM auth_session a
       WHERE a.id = push_subscription.session_id AND a.ended_at IS NULL AND a.expires_at > $2 AND a.idle_until > $2
   )

-- name: push_key_insert
INSERT INTO install_secret (name, value, created_at) VALUES ('push', $1, $2) ON CONFLICT (name) DO NOTHING

-- name: push_key_select
SELECT value FROM install_secret WHERE name = 'push'
