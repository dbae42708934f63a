SELECT h.id, h.biz_date FROM hold h WHERE h.branch_id = $1 AND h.id > $2 ORDER BY h.id LIMIT $3
