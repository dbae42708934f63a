INSERT INTO stock_adjustment (id, branch_id, item_id, kind, units, available, reserved, sold, note, actor, created_at,
                              client_txn_id, digest)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
