SELECT a.digest, a.available, a.reserved, a.sold
FROM stock_adjustment a
WHERE a.branch_id = $1 AND a.client_txn_id = $2
