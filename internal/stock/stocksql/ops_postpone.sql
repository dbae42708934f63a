UPDATE redis_outbox
SET attempts = r.was + 1, due_at = r.due_at, error = r.error, dead_at = CASE WHEN r.dead = 1 THEN CAST($2 AS BIGINT) END
FROM @rows($1: id text, was int, due_at int, dead int, error text) AS r
WHERE redis_outbox.id = r.id AND redis_outbox.attempts = r.was AND redis_outbox.dead_at IS NULL
