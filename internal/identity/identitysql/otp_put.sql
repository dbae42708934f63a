-- A new code takes the place of the one before, with attempts of its own.
INSERT INTO auth_otp (purpose, user_id, code_hash, attempts, sent_at, expires_at)
VALUES ($1, $2, $3, 0, $4, $5)
ON CONFLICT (purpose, user_id) DO UPDATE
SET code_hash = excluded.code_hash, attempts = 0, sent_at = excluded.sent_at, expires_at = excluded.expires_at, used_at = NULL
