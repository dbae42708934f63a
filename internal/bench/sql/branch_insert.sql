INSERT INTO branch (id, name, currency, timezone, biz_day_start_hour, locales, auto_close_minutes, created_at)
VALUES ($1, $2, 'VND', 'Asia/Ho_Chi_Minh', 4, '["vi","en"]', 1440, $3)
ON CONFLICT DO NOTHING
