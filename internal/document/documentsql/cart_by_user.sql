SELECT CAST(t.user_id AS TEXT), CAST(t.id AS TEXT) FROM cart t JOIN @rows($1: value int) AS w ON t.user_id = w.value
