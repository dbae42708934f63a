-- The alias keeps PostgreSQL on the column: without it, it would sort by the text.
SELECT CAST(t.user_id AS TEXT), COUNT(*) FROM order_info t WHERE t.user_id > $1 GROUP BY t.user_id ORDER BY t.user_id LIMIT $2
