INSERT INTO dish (id, image_url, category_id, names, descriptions, created_at, updated_at)
SELECT r.id, r.image_url, r.category_id, r.names, r.descriptions, $2, $2
FROM @rows($1: id int, image_url text, category_id int, names text, descriptions text) AS r
