SELECT COUNT(*) FROM branch WHERE id IN (SELECT b.id FROM @rows($1: id int) AS b)
