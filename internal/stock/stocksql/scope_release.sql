-- The next rebuild may begin after $5.
UPDATE gate_scope SET rebuilt_until = $5, epoch = $4
WHERE branch_id = $1 AND biz_date = $2 AND rebuilt_until = $3
