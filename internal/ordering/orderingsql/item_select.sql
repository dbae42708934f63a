SELECT i.order_id, i.menu_item_id, i.dish_id, i.name_snapshot, i.names, i.price_snapshot, i.qty, i.notes,
       coalesce(i.done_at, 0)
FROM order_item i
JOIN @rows($1: id text) AS r ON i.order_id = r.id
ORDER BY i.order_id, i.line
