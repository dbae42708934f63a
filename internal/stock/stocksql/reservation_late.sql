-- How many reservations are past their deadline, and since when the first of them.
SELECT count(*), coalesce(min(h.expires_at), 0) FROM hold h WHERE h.biz_date = '' AND h.state = 'HELD' AND h.expires_at <= $1
