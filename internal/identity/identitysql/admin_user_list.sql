-- Empty texts and a negative number choose nothing; $8 = 1 is for those who see every branch.
SELECT u.id, COALESCE(u.username, ''), COALESCE(u.email, ''), COALESCE(u.phone, ''), COALESCE(u.device_id, ''),
       COALESCE(u.google_id, ''), COALESCE(u.password, ''), u.role_id, r.name, u.status, COALESCE(u.address, ''),
       COALESCE(u.gender, ''), COALESCE(u.first_name, ''), COALESCE(u.surname, ''), u.age, COALESCE(u.occupation, ''),
       COALESCE(u.province, ''), COALESCE(u.city, ''), COALESCE(u.geolocation, ''), u.trust_score, u.profile,
       u.registered, u.valid_from, u.failures, u.created_at, u.updated_at, u.created_by, u.updated_by, u.version,
       COALESCE((SELECT /*pg: string_agg(CAST(b.branch_id AS TEXT), ',' ORDER BY b.branch_id) */
                        /*sqlite: group_concat(b.branch_id) */
                 FROM user_branch b WHERE b.user_id = u.id), '')
FROM app_user u
JOIN role r ON r.id = u.role_id
WHERE (CAST($1 AS TEXT) = '' OR u.email LIKE $1 ESCAPE '!' OR u.username LIKE $1 ESCAPE '!' OR u.phone LIKE $1 ESCAPE '!'
       OR LOWER(u.first_name) LIKE $1 ESCAPE '!' OR LOWER(u.surname) LIKE $1 ESCAPE '!')
  AND (CAST($2 AS TEXT) = '' OR lower(u.province /*pg: COLLATE "C"*/) = lower(CAST($2 AS TEXT) /*pg: COLLATE "C"*/))
  AND (CAST($3 AS TEXT) = '' OR lower(u.city /*pg: COLLATE "C"*/) = lower(CAST($3 AS TEXT) /*pg: COLLATE "C"*/))
  AND (CAST($4 AS TEXT) = '' OR r.name = $4)
  AND (CAST($5 AS BIGINT) < 0 OR u.registered = $5)
  AND (CAST($6 AS TEXT) = '' OR u.status = $6)
  AND (CAST($8 AS BIGINT) = 1 OR EXISTS (
      SELECT 1 FROM user_branch w
      WHERE w.user_id = u.id AND w.branch_id IN (SELECT b.id FROM @rows($7: id int) AS b)))
ORDER BY u.id
LIMIT $9 OFFSET $10
