INSERT INTO gate_scope (branch_id, biz_date, epoch, rebuilt_until) VALUES ($1, $2, '', 0)
ON CONFLICT DO NOTHING
