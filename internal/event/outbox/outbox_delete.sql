DELETE FROM outbox_events WHERE id IN (SELECT r.id FROM @rows($1: id text) AS r) RETURNING id
