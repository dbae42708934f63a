-- A row that is there already gets what is imported and the next version. One that was deleted goes on behind its tombstone.
INSERT INTO cart_detail (id, cart_id, dish_id, quantity, price, version)
SELECT r.id, r.cart_id, r.dish_id, r.quantity, r.price, CASE WHEN r.version > r.deleted THEN r.version ELSE r.deleted + 1 END
FROM @rows($1: id int, cart_id int, dish_id int, quantity int, price int, version int, deleted int) AS r
WHERE 1 = 1
ON CONFLICT (id) DO UPDATE SET
    cart_id = excluded.cart_id,
    dish_id = excluded.dish_id,
    quantity = excluded.quantity,
    price = excluded.price,
    version = CASE WHEN excluded.version > cart_detail.version THEN excluded.version ELSE cart_detail.version + 1 END
