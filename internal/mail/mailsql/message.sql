-- name: message_deadline_move
UPDATE mail_outbox SET created_at = created_at + $1, available_at = available_at + $1, expires_at = expires_at + $1
WHERE dead = 0

-- name: message_purge
DELETE FROM mail_outbox WHERE dead = 1 AND created_at < $1
