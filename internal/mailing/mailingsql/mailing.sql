-- fragment: segment_matches
-- $1 and $3 whether only provinces $2 and cities $4 are wanted, $5 registered (negative: both), $6 and $7 the instant and the
-- date of the last activity (0: any).
FROM app_user u
JOIN role r ON r.id = u.role_id
LEFT JOIN account_mail c ON c.user_id = u.id
WHERE r.name = 'USER' AND u.status <> 'DISABLED'
  AND (CAST($1 AS BIGINT) = 0 OR u.province IN (SELECT w.name FROM @rows($2: name text) AS w))
  AND (CAST($3 AS BIGINT) = 0 OR u.city IN (SELECT w.name FROM @rows($4: name text) AS w))
  AND (CAST($5 AS BIGINT) < 0 OR u.registered = $5)
  AND (CAST($6 AS BIGINT) = 0 OR COALESCE(u.last_login_at, u.created_at) < $6 AND NOT EXISTS (
      SELECT 1 FROM member_activity a WHERE a.user_id = u.id AND a.day >= $7))

-- fragment: gets_news
(u.status = 'ACTIVE' AND u.registered = 1 AND u.email IS NOT NULL AND COALESCE(c.news, 0) = 1)

-- fragment: gets_reminder
-- A reminder that was cancelled or has expired in the queue was not sent, so its member may get another one.
(u.status = 'PENDING' AND u.registered = 0 AND u.email IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM mailing_recipient p JOIN mailing g ON g.id = p.mailing_id
    WHERE p.user_id = u.id AND g.kind = 'REMINDER' AND g.preview = 0 AND p.state <> 'SKIPPED'))

-- fragment: mailing_columns
m.id, m.kind, m.preview, m.segment, m.texts, m.state, m.matched, m.excluded, m.purged_sent, m.purged_failed, m.purged_skipped,
m.created_at, m.created_by, m.finished_at

-- fragment: purgeable
-- A member who has not finished the registration is reminded once (N3), so the row that proves it stays until then.
(p.state <> 'QUEUED' AND (m.kind <> 'REMINDER' OR u.status <> 'PENDING'))

-- name: segment_count
SELECT COUNT(*), COALESCE(SUM(CASE WHEN @gets_news THEN 1 ELSE 0 END), 0),
       COALESCE(SUM(CASE WHEN @gets_reminder THEN 1 ELSE 0 END), 0)
@segment_matches

-- name: segment_list
SELECT u.id, COALESCE(u.email, ''), COALESCE(u.phone, ''), COALESCE(u.first_name, ''), COALESCE(u.surname, ''),
       COALESCE(u.province, ''), COALESCE(u.city, ''), COALESCE(c.locale, ''), u.registered, COALESCE(c.news, 0), u.created_at,
       u.last_login_at
@segment_matches
  AND u.id > $8
ORDER BY u.id LIMIT $9

-- name: segment_provinces
SELECT DISTINCT province FROM app_user WHERE province IS NOT NULL

-- name: segment_cities
SELECT DISTINCT city FROM app_user WHERE city IS NOT NULL

-- name: mailing_insert
INSERT INTO mailing (id, client_txn_id, digest, kind, preview, segment, texts, state, matched, excluded, expanded, next_at,
                     created_at, created_by)
VALUES ($1, $2, $3, $4, $5, $6, $7, 'SENDING', $8, $9, $5, $10, $10, $11)
ON CONFLICT (created_by, client_txn_id) DO NOTHING
RETURNING id

-- name: mailing_repeated
SELECT @mailing_columns, m.digest FROM mailing m WHERE m.created_by = $1 AND m.client_txn_id = $2

-- name: mailing_list
SELECT @mailing_columns FROM mailing m WHERE m.preview = 0 ORDER BY m.created_at DESC, m.id DESC LIMIT $1 OFFSET $2

-- name: mailing_count
SELECT COUNT(*) FROM mailing WHERE preview = 0

-- name: mailing_lock
SELECT @mailing_columns FROM mailing m WHERE m.id = $1 AND m.preview = 0 /*pg: FOR UPDATE */

-- name: mailing_cancel
UPDATE mailing SET state = 'CANCELED', finished_at = $2 WHERE id = $1

-- name: recipient_counts
SELECT mailing_id, state, COUNT(*) FROM mailing_recipient
WHERE mailing_id IN (SELECT m.id FROM @rows($1: id text) AS m)
GROUP BY mailing_id, state

-- name: recipient_skip
UPDATE mailing_recipient SET state = 'SKIPPED' WHERE mailing_id = $1 AND state = 'QUEUED'

-- name: recipient_unqueue
DELETE FROM mail_outbox
WHERE dead = 0 AND id IN (SELECT mail_id FROM mailing_recipient WHERE mailing_id = $1 AND state = 'SKIPPED')

-- name: mailing_open
-- Whether there is anything to do; a write transaction would hold up others on SQLite.
SELECT COUNT(*) FROM mailing WHERE state = 'SENDING'

-- name: mailing_next
-- One mailing at a time, the oldest first, so that the limit is that of all. Another process waits for the lock.
SELECT @mailing_columns, m.after_id, m.next_at FROM mailing m
WHERE m.state = 'SENDING' AND m.expanded = 0
ORDER BY m.created_at, m.id LIMIT 1 /*pg: FOR UPDATE */

-- name: mailing_waiting
SELECT COUNT(*) FROM mail_outbox WHERE template IN ('news', 'reminder') AND dead = 0

-- name: mailing_batch
SELECT u.id, u.email, COALESCE(c.locale, '')
@segment_matches
  AND u.id > $8 AND u.created_at <= $9
  AND (CAST($10 AS TEXT) = 'NEWS' AND @gets_news OR CAST($10 AS TEXT) = 'REMINDER' AND @gets_reminder)
ORDER BY u.id LIMIT $11

-- name: mailing_advance
UPDATE mailing SET after_id = $2, next_at = $3, expanded = $4 WHERE id = $1

-- name: recipient_insert
INSERT INTO mailing_recipient (mailing_id, user_id, mail_id, state)
SELECT $2, r.user_id, r.mail_id, 'QUEUED' FROM @rows($1: user_id int, mail_id text) AS r

-- name: mail_queue
INSERT INTO mail_outbox (id, recipient, template, locale, fields, created_at, available_at, expires_at)
SELECT r.id, r.recipient, CAST($2 AS TEXT), r.locale, '{}', CAST($3 AS BIGINT), CAST($3 AS BIGINT), CAST($4 AS BIGINT)
FROM @rows($1: id text, recipient text, locale text) AS r

-- name: recipient_lost
-- E-mails that are neither in the outbox nor recorded: a process died between a failure and its record.
UPDATE mailing_recipient SET state = 'FAILED'
WHERE state = 'QUEUED' AND mailing_id IN (SELECT m.id FROM mailing m WHERE m.state = 'SENDING' AND m.expanded = 1)
  AND NOT EXISTS (SELECT 1 FROM mail_outbox o WHERE o.id = mailing_recipient.mail_id AND o.dead = 0)

-- name: mailing_finish
UPDATE mailing SET state = 'SENT', finished_at = $1
WHERE state = 'SENDING' AND expanded = 1
  AND NOT EXISTS (SELECT 1 FROM mailing_recipient p WHERE p.mailing_id = mailing.id AND p.state = 'QUEUED')

-- name: mailing_purge
DELETE FROM mailing WHERE preview = 1 AND created_at < $1

-- name: mailing_purgeable
SELECT m.id FROM mailing m
WHERE m.preview = 0 AND m.finished_at < $1 AND EXISTS (
    SELECT 1 FROM mailing_recipient p JOIN app_user u ON u.id = p.user_id WHERE p.mailing_id = m.id AND @purgeable)
ORDER BY m.id LIMIT 1

-- name: recipient_purge
DELETE FROM mailing_recipient
WHERE mail_id IN (
    SELECT p.mail_id FROM mailing_recipient p
    JOIN mailing m ON m.id = p.mailing_id
    JOIN app_user u ON u.id = p.user_id
    WHERE p.mailing_id = $1 AND @purgeable
    LIMIT $2)
RETURNING state

-- name: mailing_purged
UPDATE mailing
SET purged_sent = purged_sent + $2, purged_failed = purged_failed + $3, purged_skipped = purged_skipped + $4
WHERE id = $1

-- name: mailing_deadline_move
UPDATE mailing SET next_at = next_at + $1 WHERE state = 'SENDING'

-- name: author_select
SELECT u.id, COALESCE(u.email, '') FROM app_user u WHERE u.id = $1

-- name: recipient_select
SELECT m.kind, m.preview, m.texts, m.state, u.id, COALESCE(u.first_name, u.username, ''), COALESCE(u.email, ''),
       CASE WHEN m.kind = 'NEWS' AND @gets_news THEN 1
            WHEN m.kind = 'REMINDER' AND u.status = 'PENDING' AND u.registered = 0 THEN 1 ELSE 0 END
FROM mailing_recipient p
JOIN mailing m ON m.id = p.mailing_id
JOIN app_user u ON u.id = p.user_id
LEFT JOIN account_mail c ON c.user_id = u.id
WHERE p.mail_id = $1
