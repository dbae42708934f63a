-- The unique index on open visits decides who opens one; whoever loses changes no row and joins.
INSERT INTO visit (id, branch_id, table_id, biz_date, status, opened_at, last_seen_at)
VALUES ($1, $2, $3, $4, 'OPEN', $5, $5)
ON CONFLICT (table_id) WHERE status = 'OPEN' DO NOTHING
