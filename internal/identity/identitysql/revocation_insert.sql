INSERT INTO auth_revocation (id, kind, subject, created_at)
SELECT r.id, $2, r.subject, $3 FROM @rows($1: id text, subject text) AS r
WHERE TRUE
ON CONFLICT (id) DO NOTHING
