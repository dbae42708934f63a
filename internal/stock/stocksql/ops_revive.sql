UPDATE redis_outbox SET attempts = 0, due_at = 0, dead_at = NULL
WHERE dead_at IS NOT NULL AND ($1 = '' OR id = $1)
