-- name: message_deadline_move
UPDATE mail_outbox SET created_at = created_at + $1, available_at = available_at + $1, expires_at = expires_at + $1
WHERE dead = 0

-- name: message_purge
DELETE FROM mail_outbox WHERE dead = 1 AND created_at < $1

-- name: message_list
SELECT id, recipient, template, locale, COALESCE(branch_id, 0), COALESCE(order_id, ''), created_at, available_at, attempts,
       dead, last_error
FROM mail_outbox
WHERE ($1 < 0 OR dead = $1)
ORDER BY created_at DESC, id DESC
LIMIT $2 OFFSET $3

-- name: message_count
SELECT count(*) FROM mail_outbox WHERE ($1 < 0 OR dead = $1)

-- name: message_lock
SELECT template, dead FROM mail_outbox WHERE id = $1 /*pg: FOR UPDATE */

-- name: message_again
-- A message that waits keeps its attempts: a process that is sending it now can still record the result.
UPDATE mail_outbox
SET available_at = $2, expires_at = CASE WHEN dead = 1 AND expires_at < $3 THEN $3 ELSE expires_at END,
    attempts = CASE dead WHEN 1 THEN 0 ELSE attempts END, dead = 0
WHERE id = $1

-- name: mailing_result
-- A message that was sent stays so: its result may arrive after the end of its claim.
UPDATE mailing_recipient SET state = $2
WHERE mail_id IN (SELECT m.id FROM @rows($1: id text) AS m) AND state <> 'SENT'
