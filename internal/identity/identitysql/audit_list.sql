-- Empty texts, no branches and zeros choose nothing; $7 = 1 is for those who see every branch.
SELECT seq, at, actor, action, subject, COALESCE(branch_id, 0), request_id, address, before, after, prev_hash, hash
FROM audit_log
WHERE (CAST($1 AS TEXT) = '' OR subject = $1)
  AND (CAST($2 AS TEXT) = '' OR actor = $2)
  AND (CAST($8 AS TEXT) = '' OR action = $8)
  AND at >= $3 AND at < $4
  AND (CAST($5 AS BIGINT) = 0 OR branch_id = $5)
  AND (CAST($7 AS BIGINT) = 1 OR branch_id IN (SELECT b.id FROM @rows($6: id int) AS b))
ORDER BY seq DESC
LIMIT $9 OFFSET $10
