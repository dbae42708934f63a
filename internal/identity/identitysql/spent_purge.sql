DELETE FROM auth_spent WHERE token_hash IN (SELECT t.token_hash FROM auth_spent t WHERE t.spent_at < $1 LIMIT $2)
