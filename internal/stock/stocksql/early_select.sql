SELECT e.hold_id FROM early_confirm e JOIN @rows($1: id text) AS r ON e.hold_id = r.id
