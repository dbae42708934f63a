SELECT count(*) FROM stock_adjustment WHERE item_id = $1
