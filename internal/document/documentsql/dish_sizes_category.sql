-- The alias keeps PostgreSQL on the column: without it, it would sort by the text.
SELECT CAST(t.category_id AS TEXT), COUNT(*) FROM dish t WHERE t.category_id > $1 GROUP BY t.category_id ORDER BY t.category_id LIMIT $2
