DELETE FROM cart WHERE id IN (SELECT r.id FROM @rows($1: id int) AS r)
