-- What was read an hour ago counts half; updated_at is when a score was halved last, so that any number of processes
-- halves it once.
UPDATE stock_rank SET score = score / 2, updated_at = $1 WHERE updated_at <= $2
