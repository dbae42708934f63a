DELETE FROM auth_otp WHERE expires_at < $1
