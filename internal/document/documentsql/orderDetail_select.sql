-- All lines of orders: who asks for some of them asks for most.
SELECT d.order_id || '-' || CAST(d.line AS TEXT), d.order_id, d.dish_id, d.menu_item_id, d.qty, d.price_snapshot, d.notes,
       CAST(1 AS BIGINT)
FROM order_item d
WHERE d.order_id /*pg: = ANY ($1) *//*sqlite: IN (SELECT id FROM @rows($1: id text)) */
