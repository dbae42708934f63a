-- One rebuild at a time: the winner owns the scope until $4, unless it ends earlier.
UPDATE gate_scope SET rebuilt_until = $4
WHERE branch_id = $1 AND biz_date = $2 AND rebuilt_until < $3
