-- I10: everything unpaid is expired within five seconds of its deadline.
SELECT h.id, h.expires_at FROM hold h WHERE h.state = 'HELD' AND h.expires_at < $1 AND (CAST($3 AS BIGINT) = 0 OR h.branch_id = $3) ORDER BY h.expires_at LIMIT $2
