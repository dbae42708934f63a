INSERT INTO table_qr (token, table_id, status, created_at)
SELECT r.token, r.table_id, 'ACTIVE', $2
FROM @rows($1: token text, table_id int) AS r
