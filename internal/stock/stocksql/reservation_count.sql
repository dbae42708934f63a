-- Empty texts choose all.
SELECT count(*)
FROM hold h
WHERE h.branch_id = $1 AND h.biz_date = ''
  AND (CAST($2 AS TEXT) = '' OR h.state = $2)
  AND (CAST($3 AS TEXT) = '' OR h.reason = $3)
