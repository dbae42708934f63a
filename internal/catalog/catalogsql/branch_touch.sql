UPDATE branch SET revision = revision + 1 WHERE id = $1
