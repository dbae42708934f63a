-- Those that waited longest first; then those whose confirmation was remembered in the moment in which they came.
SELECT l.id FROM (
    SELECT h.id FROM hold h WHERE h.biz_date = '' AND h.state = 'HELD' AND h.expires_at <= $1 ORDER BY h.expires_at LIMIT $2
) AS l
UNION ALL
SELECT h.id FROM early_confirm e JOIN hold h ON h.id = e.hold_id WHERE h.state = 'HELD'
