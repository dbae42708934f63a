SELECT name, value FROM install_secret
