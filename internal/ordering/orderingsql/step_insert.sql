INSERT INTO order_step (order_id, version, at, from_status, to_status, actor)
SELECT r.order_id, r.version, r.at, r.from_status, r.to_status, r.actor
FROM @rows($1: order_id text, version int, at int, from_status text, to_status text, actor text) AS r
