SELECT count(*), coalesce(min(created_at), 0) FROM redis_outbox WHERE dead_at IS NULL
