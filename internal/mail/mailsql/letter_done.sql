DELETE FROM mail_outbox WHERE id IN (SELECT r.id FROM @rows($1: id text) AS r)
