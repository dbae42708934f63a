DELETE FROM install_secret WHERE name LIKE 'setup:%'
