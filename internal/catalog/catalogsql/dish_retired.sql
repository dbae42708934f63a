SELECT COALESCE(retired_at, 0) FROM dish WHERE id = $1
