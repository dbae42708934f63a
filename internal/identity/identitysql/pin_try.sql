UPDATE user_pin SET failures = failures + 1 WHERE user_id = $1 AND failures < $2 RETURNING hash
