INSERT INTO table_qr (token, table_id, status, created_at) VALUES ($1, $2, 'ACTIVE', $3)
