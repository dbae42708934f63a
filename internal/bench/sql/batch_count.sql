-- The ledger stamps every hold of one transaction with one instant, so the instants count the transactions.
SELECT count(*), count(DISTINCT h.created_at)
FROM hold h
WHERE h.branch_id = $1 AND h.biz_date = $2 AND h.created_at >= $3
