-- What administrators may do is too much for a PIN, whenever they got it.
SELECT u.id, COALESCE(NULLIF(TRIM(COALESCE(u.first_name, '') || ' ' || COALESCE(u.surname, '')), ''), u.username, u.email, ''), r.name
FROM user_pin p
JOIN app_user u ON u.id = p.user_id
JOIN role r ON r.id = u.role_id
WHERE u.status = 'ACTIVE' AND p.failures < $1 AND r.name NOT IN ('OWNER', 'ADMIN', 'USER')
  AND ($2 = 1 OR EXISTS (
        SELECT 1 FROM user_branch b JOIN @rows($3: id int) AS w ON w.id = b.branch_id WHERE b.user_id = u.id))
ORDER BY 2, u.id
