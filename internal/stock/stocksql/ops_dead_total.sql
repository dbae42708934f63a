SELECT count(*) FROM redis_outbox WHERE dead_at IS NOT NULL AND (CAST($1 AS TEXT) = '' OR id = $1)
