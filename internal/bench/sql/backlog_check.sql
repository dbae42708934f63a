-- What was committed and is not published, not applied to Redis or not shown in its documents. By the primary key,
-- because after a load the tables are empty but for what is not vacuumed yet, and an index forgets that when it is looked
-- at.
SELECT (SELECT count(*) FROM (SELECT id FROM outbox_events ORDER BY id LIMIT 1) AS e)
     + (SELECT count(*) FROM (SELECT id FROM redis_outbox ORDER BY id LIMIT 1) AS o)
     + (SELECT count(*) FROM (SELECT id FROM document_outbox ORDER BY id LIMIT 1) AS d)
