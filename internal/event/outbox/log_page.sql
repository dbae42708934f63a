-- The last id of a page behind the first; empty where there is none.
SELECT coalesce(max(page.id), '')
FROM (SELECT id FROM event_log WHERE id > $1 AND id < $2 ORDER BY id LIMIT $3) AS page
