SELECT CAST(r.id AS TEXT), CAST(t.id AS TEXT)
FROM @rows($1: id int, cart_id int, dish_id int) AS r
JOIN cart_detail t ON t.cart_id = r.cart_id AND t.dish_id = r.dish_id
