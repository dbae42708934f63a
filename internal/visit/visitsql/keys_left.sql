SELECT id FROM visit WHERE keys_left = 1 ORDER BY closed_at LIMIT $1
