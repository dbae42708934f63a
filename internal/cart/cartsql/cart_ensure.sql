-- Whoever finds that another process is just making the cart waits for it, and reads it with the next look.
INSERT INTO cart (user_id, created_at, updated_at, created_by, updated_by, version)
SELECT r.id, CAST($2 AS BIGINT), CAST($2 AS BIGINT), r.name, r.name, 0
FROM @rows($1: id int, name text) AS r
WHERE (SELECT c.id FROM cart c WHERE c.user_id = r.id) IS NULL
ORDER BY r.id
ON CONFLICT (user_id) DO NOTHING
