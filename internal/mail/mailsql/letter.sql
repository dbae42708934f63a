-- name: letter_bury
UPDATE mail_outbox SET dead = 1, fields = '{}', last_error = $2 WHERE id = $1

-- name: letter_claim
UPDATE mail_outbox SET available_at = $2, attempts = attempts + 1
WHERE id IN (
    SELECT m.id FROM mail_outbox m
    WHERE m.dead = 0 AND m.available_at <= $1
    ORDER BY m.available_at, m.id
    LIMIT $3
    /*pg: FOR UPDATE SKIP LOCKED */
)
RETURNING id, recipient, template, locale, fields, created_at, expires_at, attempts

-- name: letter_count
SELECT COALESCE(SUM(1 - dead), 0), COALESCE(MIN(CASE WHEN dead = 0 THEN available_at END), CAST($1 AS BIGINT)),
       COALESCE(SUM(dead), 0)
FROM mail_outbox

-- name: letter_deadline_move
UPDATE mail_outbox SET created_at = created_at + $1, available_at = available_at + $1, expires_at = expires_at + $1
WHERE dead = 0

-- name: letter_done
DELETE FROM mail_outbox WHERE id IN (SELECT r.id FROM @rows($1: id text) AS r)

-- name: letter_later
UPDATE mail_outbox SET available_at = $2, attempts = $3, last_error = $4 WHERE id = $1

-- name: letter_purge
DELETE FROM mail_outbox WHERE dead = 1 AND created_at < $1
