INSERT INTO mail_outbox (id, recipient, template, locale, fields, created_at, available_at, expires_at)
VALUES ($1, $2, $3, $4, $5, $6, $6, $7)
