SELECT COALESCE(SUM(1 - dead), 0), COALESCE(MIN(CASE WHEN dead = 0 THEN available_at END), CAST($1 AS BIGINT)),
       COALESCE(SUM(dead), 0)
FROM mail_outbox
