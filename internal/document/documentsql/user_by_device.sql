SELECT CAST(t.device_id AS TEXT), CAST(t.id AS TEXT) FROM app_user t JOIN @rows($1: value text) AS w ON t.device_id = w.value
