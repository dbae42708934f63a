DELETE FROM early_confirm WHERE created_at < $1
