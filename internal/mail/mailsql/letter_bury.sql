UPDATE mail_outbox SET dead = 1, fields = '{}', last_error = $2 WHERE id = $1
