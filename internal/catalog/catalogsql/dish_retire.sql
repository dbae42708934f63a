UPDATE dish SET retired_at = $2, updated_at = $2, updated_by = $3, version = version + 1 WHERE id = $1
