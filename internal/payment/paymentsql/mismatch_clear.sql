UPDATE payment_mismatch SET cleared_at = $2 WHERE attempt_id = $1 AND cleared_at IS NULL
