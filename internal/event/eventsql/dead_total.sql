SELECT count(*)
FROM dead_event
WHERE (CAST($1 AS BIGINT) = 1 OR consumer_name = $2) AND (CAST($3 AS TEXT) = '' OR event_type = $3)
  AND (CAST($4 AS TEXT) = '' OR id = $4)
