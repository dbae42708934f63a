DELETE FROM auth_cap WHERE window_start < $1
