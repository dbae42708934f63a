SELECT CAST(t.username AS TEXT), CAST(t.id AS TEXT) FROM app_user t JOIN @rows($1: value text) AS w ON t.username = w.value
