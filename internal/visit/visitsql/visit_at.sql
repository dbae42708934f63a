SELECT id FROM visit WHERE table_id = $1 AND status = 'OPEN'
