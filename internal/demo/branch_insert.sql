INSERT INTO branch (id, name, currency, timezone, biz_day_start_hour, locales, auto_close_minutes, created_at)
SELECT r.id, r.name, r.currency, r.timezone, r.hour, r.locales, r.minutes, $2
FROM @rows($1: id int, name text, currency text, timezone text, hour int, locales text, minutes int) AS r
WHERE true
ON CONFLICT DO NOTHING
