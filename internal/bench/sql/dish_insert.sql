INSERT INTO dish (id, category_id, names, descriptions)
SELECT r.id, r.category_id, r.names, r.descriptions
FROM @rows($1: id int, category_id int, names text, descriptions text) AS r
