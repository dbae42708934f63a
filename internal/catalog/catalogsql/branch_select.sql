SELECT id, name, currency, timezone, biz_day_start_hour, locales, auto_close_minutes, is_open, revision
FROM branch
WHERE id = $1
