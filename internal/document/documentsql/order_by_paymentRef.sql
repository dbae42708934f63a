SELECT CAST(t.payment_ref AS TEXT), CAST(t.id AS TEXT) FROM order_info t JOIN @rows($1: value text) AS w ON t.payment_ref = w.value
