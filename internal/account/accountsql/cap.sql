-- name: cap_add
INSERT INTO auth_cap (action, subject, window_start, used) VALUES ($1, $2, $3, 1)
ON CONFLICT (action, subject, window_start) DO UPDATE SET used = auth_cap.used + 1

-- name: cap_list
SELECT window_start, used FROM auth_cap WHERE action = $1 AND subject = $2 AND window_start > $3 ORDER BY window_start

-- name: cap_lock
-- Serializes the transactions of a subject. The row of window 0 is the lock.
INSERT INTO auth_cap (action, subject, window_start, used) VALUES ($1, $2, 0, 0)
ON CONFLICT (action, subject, window_start) DO UPDATE SET used = auth_cap.used

-- name: cap_purge
DELETE FROM auth_cap WHERE window_start < $1
