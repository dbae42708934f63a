UPDATE install_secret SET value = $2, created_at = $3 WHERE name = $1
