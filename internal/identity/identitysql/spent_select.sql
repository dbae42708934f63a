SELECT session_id FROM auth_spent WHERE token_hash = $1
