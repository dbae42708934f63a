SELECT seq, at, actor, action, subject, COALESCE(branch_id, 0), request_id, address, before, after, prev_hash, hash
FROM audit_log
WHERE seq > $1
ORDER BY seq
LIMIT $2
