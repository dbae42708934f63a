-- The alias keeps PostgreSQL on the column: without it, it would sort by the text.
SELECT CAST(t.order_id AS TEXT), COUNT(*) FROM order_item t WHERE t.order_id > $1 GROUP BY t.order_id ORDER BY t.order_id LIMIT $2
