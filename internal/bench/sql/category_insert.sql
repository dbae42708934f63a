INSERT INTO category (id, sort, names)
SELECT r.id, r.id, r.names
FROM @rows($1: id int, names text) AS r
