INSERT INTO install_secret (name, value, created_at) VALUES ($1, '', $2)
