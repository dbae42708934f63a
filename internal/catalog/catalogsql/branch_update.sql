UPDATE branch
SET name = $2, biz_day_start_hour = $3, locales = $4, auto_close_minutes = $5, is_open = $6, revision = revision + 1,
    paused_at = $7, paused_until = $8, pause_code = $9, pause_texts = $10, paused_by = $11
WHERE id = $1
