SELECT 'no', COUNT(*) FROM app_user WHERE registered = 0 AND CAST($1 AS TEXT) < 'no' GROUP BY registered LIMIT $2
