UPDATE mail_outbox SET available_at = $2, attempts = attempts + 1
WHERE id IN (
    SELECT m.id FROM mail_outbox m
    WHERE m.dead = 0 AND m.available_at <= $1
    ORDER BY m.available_at, m.id
    LIMIT $3
    /*pg: FOR UPDATE SKIP LOCKED */
)
RETURNING id, recipient, template, locale, fields, created_at, expires_at, attempts
