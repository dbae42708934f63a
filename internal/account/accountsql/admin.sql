-- fragment: admin_user_matches
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

-- name: admin_access_revoke
UPDATE app_user SET valid_from = $2, updated_at = $2, updated_by = $3, version = version + 1 WHERE id = $1

-- name: admin_branch_clear
DELETE FROM user_branch WHERE user_id = $1

-- name: admin_branch_count
SELECT COUNT(*) FROM branch WHERE id IN (SELECT b.id FROM @rows($1: id int) AS b)

-- name: admin_branch_put
INSERT INTO user_branch (user_id, branch_id) SELECT $1, b.id FROM @rows($2: id int) AS b

-- name: admin_owner_ids
SELECT u.id
FROM app_user u
JOIN role r ON r.id = u.role_id
WHERE r.name = 'OWNER' AND u.status = 'ACTIVE'

-- name: admin_role_set
UPDATE app_user SET role_id = $2, valid_from = $3, updated_at = $3, updated_by = $4, version = version + 1 WHERE id = $1

-- name: admin_status_set
-- $3 is 0 if no session has to end.
UPDATE app_user
SET status = $2, valid_from = CASE WHEN CAST($3 AS BIGINT) > 0 THEN $3 ELSE valid_from END, updated_at = $4,
    updated_by = $5, version = version + 1
WHERE id = $1

-- name: admin_user_count
-- Empty texts and a negative number disable a filter. $8 = 1: the caller may see every branch.
SELECT COUNT(*)
@admin_user_matches

-- name: admin_user_list
-- Empty texts and a negative number disable a filter. $8 = 1: the caller may see every branch.
SELECT @account_columns
@admin_user_matches
ORDER BY u.id
LIMIT $9 OFFSET $10

-- name: admin_user_list_by_login
-- As admin_user_list, the newest login first.
SELECT @account_columns
@admin_user_matches
ORDER BY u.last_login_at DESC NULLS LAST, u.id
LIMIT $9 OFFSET $10
