INSERT INTO audit_log (seq, at, actor, action, subject, branch_id, request_id, address, before, after, prev_hash, hash)
SELECT r.seq, r.at, r.actor, r.action, r.subject, r.branch, r.request, r.address, r.before, r.after, r.prev, r.hash
FROM @rows($1: seq int, at int, actor text, action text, subject text, branch int, request text, address text,
    before text, after text, prev text, hash text) AS r
