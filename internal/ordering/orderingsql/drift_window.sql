-- The last id of the next $2 orders.
SELECT coalesce(max(w.id), '') FROM (SELECT o.id FROM order_info o WHERE o.id > $1 ORDER BY o.id LIMIT $2) w
