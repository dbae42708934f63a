UPDATE visit SET keys_left = 0
WHERE keys_left = 1 AND closed_at <= $2 AND id IN (SELECT r.id FROM @rows($1: id text) AS r)
