UPDATE cart_detail SET version = $2 + 1 WHERE id = $1 AND version <= $2
