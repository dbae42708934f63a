SELECT CAST(t.name AS TEXT), CAST(t.id AS TEXT) FROM role t JOIN @rows($1: value text) AS w ON t.name = w.value
