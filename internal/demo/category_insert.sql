INSERT INTO category (id, sort, names)
SELECT r.id, r.sort, r.names
FROM @rows($1: id int, sort int, names text) AS r
