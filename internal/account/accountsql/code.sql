-- name: mail_insert
INSERT INTO mail_outbox (id, recipient, template, locale, fields, created_at, available_at, expires_at)
VALUES ($1, $2, $3, $4, $5, $6, $6, $7)

-- name: otp_attempt
-- Counts the attempt before it returns the hash, so that parallel requests cannot exceed the limit.
UPDATE auth_otp SET attempts = attempts + 1
WHERE purpose = $1 AND user_id = $2 AND attempts < $3 AND used_at IS NULL AND expires_at > $4
RETURNING code_hash

-- name: otp_cancel
UPDATE auth_otp SET used_at = $3 WHERE purpose = $1 AND user_id = $2 AND used_at IS NULL

-- name: otp_deadline_move
UPDATE auth_otp SET sent_at = sent_at + $1, expires_at = expires_at + $1 WHERE used_at IS NULL

-- name: otp_purge
DELETE FROM auth_otp WHERE expires_at < $1

-- name: otp_put
-- Replaces the previous code and resets its attempts.
INSERT INTO auth_otp (purpose, user_id, code_hash, attempts, sent_at, expires_at)
VALUES ($1, $2, $3, 0, $4, $5)
ON CONFLICT (purpose, user_id) DO UPDATE
SET code_hash = excluded.code_hash, attempts = 0, sent_at = excluded.sent_at, expires_at = excluded.expires_at, used_at = NULL

-- name: otp_use
UPDATE auth_otp SET used_at = $4 WHERE purpose = $1 AND user_id = $2 AND code_hash = $3 AND used_at IS NULL

-- name: cap_add
INSERT INTO auth_cap (action, subject, window_start, used) VALUES ($1, $2, $3, 1)
ON CONFLICT (action, subject, window_start) DO UPDATE SET used = auth_cap.used + 1

-- name: cap_list
SELECT window_start, used FROM auth_cap WHERE action = $1 AND subject = $2 AND window_start > $3 ORDER BY window_start

-- name: cap_lock
-- Serializes the transactions of a subject. The row of window 0 is the lock.
INSERT INTO auth_cap (action, subject, window_start, used) VALUES ($1, $2, 0, 0)
ON CONFLICT (action, subject, window_start) DO UPDATE SET used = auth_cap.used

-- name: cap_purge
DELETE FROM auth_cap WHERE window_start < $1
