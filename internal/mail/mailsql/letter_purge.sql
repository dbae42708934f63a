DELETE FROM mail_outbox WHERE dead = 1 AND created_at < $1
