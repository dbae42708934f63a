SELECT COUNT(*) FROM visit v WHERE v.branch_id = $1 AND (CAST($2 AS TEXT) = '' OR v.status = $2)
