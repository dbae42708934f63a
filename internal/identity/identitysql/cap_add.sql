INSERT INTO auth_cap (action, subject, window_start, used) VALUES ($1, $2, $3, 1)
ON CONFLICT (action, subject, window_start) DO UPDATE SET used = auth_cap.used + 1
