INSERT INTO category (sort, names, descriptions, created_at, updated_at, created_by, updated_by)
VALUES (COALESCE(CAST($1 AS BIGINT), (SELECT COALESCE(MAX(c.sort), 0) + 1 FROM category c)), $2, $3, $4, $4, $5, $5)
RETURNING id
