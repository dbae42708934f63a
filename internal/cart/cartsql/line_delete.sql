DELETE FROM cart_detail WHERE id IN (SELECT r.id FROM @rows($1: id int) AS r)
