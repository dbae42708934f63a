SELECT o.hold_id FROM order_info o JOIN @rows($1: id text) AS r ON o.id = r.id
