SELECT branch_id, biz_date, epoch FROM gate_scope WHERE biz_date >= $1 OR biz_date = '' ORDER BY branch_id, biz_date
