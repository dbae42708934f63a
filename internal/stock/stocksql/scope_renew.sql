-- The end of a claim identifies it.
UPDATE gate_scope SET rebuilt_until = $4
WHERE branch_id = $1 AND biz_date = $2 AND rebuilt_until = $3
