SELECT d.id, d.category_id FROM dish d JOIN @rows($1: id int) AS r ON d.id = r.id
