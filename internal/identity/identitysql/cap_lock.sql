-- One at a time for each subject; the row of window 0 is the lock.
INSERT INTO auth_cap (action, subject, window_start, used) VALUES ($1, $2, 0, 0)
ON CONFLICT (action, subject, window_start) DO UPDATE SET used = auth_cap.used
