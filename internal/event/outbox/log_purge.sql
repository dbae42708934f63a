-- Of one page; published_at needs no index.
DELETE FROM event_log WHERE id > $1 AND id <= $2 AND published_at < $3
