INSERT INTO table_qr (token, table_id, status, created_at)
SELECT r.token, r.id, 'ACTIVE', CAST($2 AS BIGINT)
FROM @rows($1: id int, label text, token text) AS r
