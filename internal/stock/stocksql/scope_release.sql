UPDATE gate_scope SET rebuilt_until = 0, epoch = $3 WHERE branch_id = $1 AND biz_date = $2
