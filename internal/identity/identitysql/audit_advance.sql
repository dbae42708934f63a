UPDATE audit_head SET seq = $1, hash = $2 WHERE id = 1
