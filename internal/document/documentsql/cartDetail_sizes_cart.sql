-- The alias keeps PostgreSQL on the column: without it, it would sort by the text.
SELECT CAST(t.cart_id AS TEXT), COUNT(*) FROM cart_detail t WHERE t.cart_id > $1 GROUP BY t.cart_id ORDER BY t.cart_id LIMIT $2
