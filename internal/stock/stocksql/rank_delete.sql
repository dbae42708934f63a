DELETE FROM stock_rank WHERE score = 0
