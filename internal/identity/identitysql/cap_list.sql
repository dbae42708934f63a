SELECT window_start, used FROM auth_cap WHERE action = $1 AND subject = $2 AND window_start > $3 ORDER BY window_start
