-- fragment: audit_columns
seq, at, actor, action, subject, COALESCE(branch_id, 0), request_id, address, before, after, prev_hash, hash

-- fragment: audit_matches
FROM audit_log
WHERE (CAST($1 AS TEXT) = '' OR subject = $1)
  AND (CAST($2 AS TEXT) = '' OR actor = $2)
  AND (CAST($8 AS TEXT) = '' OR action = $8)
  AND at >= $3 AND at < $4
  AND (CAST($5 AS BIGINT) = 0 OR branch_id = $5)
  AND (CAST($7 AS BIGINT) = 1 OR branch_id IN (SELECT b.id FROM @rows($6: id int) AS b))

-- name: audit_advance
UPDATE audit_head SET seq = $1, hash = $2 WHERE id = 1

-- name: audit_count
SELECT COUNT(*)
@audit_matches

-- name: audit_insert
INSERT INTO audit_log (seq, at, actor, action, subject, branch_id, request_id, address, before, after, prev_hash, hash)
SELECT r.seq, r.at, r.actor, r.action, r.subject, r.branch, r.request, r.address, r.before, r.after, r.prev, r.hash
FROM @rows($1: seq int, at int, actor text, action text, subject text, branch int, request text, address text,
    before text, after text, prev text, hash text) AS r

-- name: audit_last
SELECT seq, hash FROM audit_head WHERE id = 1

-- name: audit_list
-- Empty texts and zeros disable a filter. $7 = 1: the caller may see every branch.
SELECT @audit_columns
@audit_matches
ORDER BY seq DESC
LIMIT $9 OFFSET $10

-- name: audit_lock
-- Locks the head of the hash chain. Transactions take this lock last, because all writers of audit entries wait for it.
SELECT seq, hash FROM audit_head WHERE id = 1 /*pg: FOR NO KEY UPDATE */

-- name: audit_names
-- Returns the current names of subjects. Deleted subjects and kinds that are not listed here have no row. A name in
-- several languages is a JSON object. An account also has the two parts of its name.
WITH r AS (SELECT n.kind, n.id, n.num FROM @rows($1: kind text, id text, num int) AS n)
SELECT r.kind, r.id, COALESCE(u.username, u.email, ''), COALESCE(u.first_name, ''), COALESCE(u.surname, '')
FROM r JOIN app_user u ON u.id = r.num WHERE r.kind = 'user'
UNION ALL
SELECT r.kind, r.id, x.name, '', '' FROM r JOIN role x ON x.id = r.num WHERE r.kind = 'role'
UNION ALL
SELECT r.kind, r.id, x.name, '', '' FROM r JOIN branch x ON x.id = r.num WHERE r.kind = 'branch'
UNION ALL
SELECT r.kind, r.id, x.label, '', '' FROM r JOIN dining_table x ON x.id = r.num WHERE r.kind = 'table'
UNION ALL
SELECT r.kind, r.id, x.name, '', '' FROM r JOIN menu x ON x.id = r.num WHERE r.kind = 'menu'
UNION ALL
SELECT r.kind, r.id, x.name, '', '' FROM r JOIN menu_version v ON v.id = r.num JOIN menu x ON x.id = v.menu_id WHERE r.kind = 'menuVersion'
UNION ALL
SELECT r.kind, r.id, x.names, '', '' FROM r JOIN menu_item i ON i.id = r.num JOIN dish x ON x.id = i.dish_id WHERE r.kind = 'menuItem'
UNION ALL
SELECT r.kind, r.id, x.names, '', '' FROM r JOIN option_choice x ON x.id = r.num WHERE r.kind = 'option'
UNION ALL
SELECT r.kind, r.id, x.names, '', '' FROM r JOIN option_group x ON x.id = r.num WHERE r.kind = 'optionGroup'
UNION ALL
SELECT r.kind, r.id, x.names, '', '' FROM r JOIN dish x ON x.id = r.num WHERE r.kind = 'dish'
UNION ALL
SELECT r.kind, r.id, x.names, '', '' FROM r JOIN category x ON x.id = r.num WHERE r.kind = 'category'
UNION ALL
SELECT r.kind, r.id, x.label, '', '' FROM r JOIN visit v ON v.id = r.id JOIN dining_table x ON x.id = v.table_id WHERE r.kind = 'visit'

-- name: audit_walk
SELECT @audit_columns
FROM audit_log
WHERE seq > $1
ORDER BY seq
LIMIT $2
