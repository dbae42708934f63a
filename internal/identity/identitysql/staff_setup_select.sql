SELECT name FROM install_secret WHERE name = $1
