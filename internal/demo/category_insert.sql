INSERT INTO category (id, sort, names, created_at, updated_at)
SELECT r.id, r.sort, r.names, $2, $2
FROM @rows($1: id int, sort int, names text) AS r
