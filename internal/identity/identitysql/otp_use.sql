UPDATE auth_otp SET used_at = $4 WHERE purpose = $1 AND user_id = $2 AND code_hash = $3 AND used_at IS NULL
