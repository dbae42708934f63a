INSERT INTO dish (id, category_id, names, descriptions, created_at, updated_at)
SELECT r.id, r.category_id, r.names, r.descriptions, $2, $2
FROM @rows($1: id int, category_id int, names text, descriptions text) AS r
