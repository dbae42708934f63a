SELECT rebuilt_until FROM gate_scope WHERE branch_id = $1 AND biz_date = $2
