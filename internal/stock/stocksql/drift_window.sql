-- The last id of the next $2 holds.
SELECT coalesce(max(w.id), '') FROM (SELECT h.id FROM hold h WHERE h.id > $1 ORDER BY h.id LIMIT $2) w
