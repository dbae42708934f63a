-- The newest codes stay; a house that is started again and again without being set up does not fill its database.
DELETE FROM install_secret
WHERE name LIKE 'setup:%' AND name NOT IN (
    SELECT n.name FROM (
        SELECT name FROM install_secret WHERE name LIKE 'setup:%' ORDER BY created_at DESC, name LIMIT $1
    ) n
)
