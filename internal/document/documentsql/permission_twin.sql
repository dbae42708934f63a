SELECT CAST(r.id AS TEXT), CAST(t.id AS TEXT)
FROM @rows($1: id int, api_path text, method text) AS r
JOIN permission t ON t.api_path = r.api_path AND t.method = r.method
