-- Only the newest are looked at, so that no history makes it slow.
SELECT count(*) FROM (SELECT published_at FROM event_log ORDER BY id DESC LIMIT $2) AS newest WHERE newest.published_at >= $1
