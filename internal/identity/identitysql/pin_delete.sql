DELETE FROM user_pin WHERE user_id = $1
