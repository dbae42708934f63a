-- The attempt is counted before anybody sees what it is compared with.
UPDATE auth_otp SET attempts = attempts + 1
WHERE purpose = $1 AND user_id = $2 AND attempts < $3 AND used_at IS NULL AND expires_at > $4
RETURNING code_hash
