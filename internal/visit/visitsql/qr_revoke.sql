UPDATE table_qr SET status = 'REVOKED', revoked_at = $2 WHERE table_id = $1 AND status = 'ACTIVE'
