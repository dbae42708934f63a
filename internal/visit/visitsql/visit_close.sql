UPDATE visit SET status = 'CLOSED', closed_at = $3, close_reason = $2, keys_left = 1
WHERE id = $1 AND status = 'OPEN'
