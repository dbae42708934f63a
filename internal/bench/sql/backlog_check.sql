-- What was committed and is not published, or not applied to Redis.
SELECT CASE WHEN EXISTS (SELECT 1 FROM outbox_events) OR EXISTS (SELECT 1 FROM redis_outbox) THEN 1 ELSE 0 END
