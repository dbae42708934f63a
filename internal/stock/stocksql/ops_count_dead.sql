SELECT count(*), coalesce(min(dead_at), 0) FROM redis_outbox WHERE dead_at IS NOT NULL
