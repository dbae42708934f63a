UPDATE mail_outbox SET available_at = $2, attempts = $3, last_error = $4 WHERE id = $1
