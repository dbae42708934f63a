INSERT INTO early_confirm (hold_id, created_at)
SELECT r.id, CAST($2 AS BIGINT) FROM @rows($1: id text) AS r
WHERE true
ORDER BY r.id
ON CONFLICT DO NOTHING
