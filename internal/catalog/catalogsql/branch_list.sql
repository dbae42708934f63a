SELECT id, name, currency, timezone, biz_day_start_hour, locales, auto_close_minutes, is_open, revision,
       paused_at, paused_until, pause_code, pause_texts, paused_by
FROM branch
ORDER BY id
