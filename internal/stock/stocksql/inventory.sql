-- fragment: level_columns
s.id, s.branch_id, s.sku, s.name, s.unit, coalesce(s.low_at, -1), v.available, v.reserved, v.sold

-- fragment: level_matches
FROM stock_item s
JOIN inventory v ON v.branch_id = s.branch_id AND v.item_id = s.id
WHERE s.branch_id = $1 AND s.kind = 'STOCK'
  AND (CAST($2 AS TEXT) = '' OR lower(s.sku) LIKE $2 ESCAPE '!' OR lower(s.name) LIKE $2 ESCAPE '!')
  AND (CAST($3 AS BIGINT) = 0 OR v.available <= s.low_at)

-- name: adjustment_count
SELECT count(*) FROM stock_adjustment WHERE item_id = $1

-- name: adjustment_by_key
SELECT a.digest, a.available, a.reserved, a.sold
FROM stock_adjustment a
WHERE a.branch_id = $1 AND a.client_txn_id = $2

-- name: adjustment_insert
INSERT INTO stock_adjustment (id, branch_id, item_id, kind, units, available, reserved, sold, note, actor, created_at,
                              client_txn_id, digest)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)

-- name: adjustment_list
SELECT a.id, a.kind, a.units, a.available, a.note, a.actor, a.created_at
FROM stock_adjustment a
WHERE a.item_id = $1
ORDER BY a.id DESC
LIMIT $2 OFFSET $3

-- name: inventory_add
UPDATE inventory
SET available = inventory.available + r.available, reserved = inventory.reserved + r.reserved, sold = inventory.sold + r.sold
FROM @rows($1: branch_id int, item int, available int, reserved int, sold int) AS r
WHERE inventory.branch_id = r.branch_id AND inventory.item_id = r.item

-- name: inventory_insert
INSERT INTO inventory (branch_id, item_id)
SELECT s.branch_id, s.id FROM stock_item s WHERE s.branch_id = $1 AND s.sku = $2
ON CONFLICT DO NOTHING

-- name: inventory_lock
SELECT v.item_id, v.available, v.reserved, v.sold
FROM inventory v
JOIN @rows($1: branch_id int, item int) AS r ON v.branch_id = r.branch_id AND v.item_id = r.item
ORDER BY v.branch_id, v.item_id
/*pg: FOR UPDATE OF v*/

-- name: inventory_low
SELECT v.branch_id, count(CASE WHEN v.available <= s.low_at THEN 1 END)
FROM inventory v
JOIN stock_item s ON s.id = v.item_id
GROUP BY v.branch_id
ORDER BY v.branch_id

-- name: inventory_select_branch
SELECT v.item_id, v.available, v.reserved, v.sold FROM inventory v WHERE v.branch_id = $1 ORDER BY v.item_id

-- name: level_count
-- An empty text selects all items; $3 = 1 only those at or below their alarm level.
SELECT count(*)
@level_matches

-- name: level_list
-- An empty text selects all items; $3 = 1 only those at or below their alarm level.
SELECT @level_columns
@level_matches
ORDER BY s.sku
LIMIT $4 OFFSET $5

-- name: level_select
SELECT @level_columns
FROM stock_item s
JOIN @rows($1: branch_id int, sku text) AS r ON s.branch_id = r.branch_id AND s.sku = r.sku
JOIN inventory v ON v.branch_id = s.branch_id AND v.item_id = s.id

-- name: rank_add
-- The rows are sorted, so that two processes cannot deadlock.
INSERT INTO stock_rank (item_id, score, updated_at)
SELECT s.id, r.reads, CAST($2 AS BIGINT)
FROM @rows($1: branch_id int, sku text, reads int) AS r
JOIN stock_item s ON s.branch_id = r.branch_id AND s.sku = r.sku
WHERE true
ORDER BY s.id
ON CONFLICT (item_id) DO UPDATE SET score = stock_rank.score + excluded.score

-- name: rank_delete
DELETE FROM stock_rank WHERE score = 0

-- name: rank_decay
-- Halves the scores every hour. updated_at is the time of the last halving, so that only one process halves a score.
UPDATE stock_rank SET score = score / 2, updated_at = $1 WHERE updated_at <= $2

-- name: rank_top
SELECT @level_columns
FROM stock_rank k
JOIN stock_item s ON s.id = k.item_id
JOIN inventory v ON v.branch_id = s.branch_id AND v.item_id = s.id
ORDER BY k.score DESC, k.item_id
LIMIT $1

-- name: stock_item_by_sku
-- Serves messages without a branch, because the specification's messages have none.
SELECT s.id, s.branch_id, s.sku, s.name, s.unit, coalesce(s.low_at, -1)
FROM stock_item s
JOIN @rows($1: sku text) AS r ON s.sku = r.sku

-- name: stock_item_find
SELECT s.id, s.branch_id, s.sku, s.name, s.unit, coalesce(s.low_at, -1)
FROM stock_item s
JOIN @rows($1: branch_id int, sku text) AS r ON s.branch_id = r.branch_id AND s.sku = r.sku

-- name: stock_item_insert
-- Inserts no row if the branch does not exist.
INSERT INTO stock_item (branch_id, sku, created_at, updated_at)
SELECT b.id, CAST($2 AS TEXT), CAST($3 AS BIGINT), CAST($3 AS BIGINT) FROM branch b WHERE b.id = $1
ON CONFLICT DO NOTHING

-- name: stock_item_lock
SELECT s.id, s.branch_id, s.sku, s.name, s.unit, coalesce(s.low_at, -1)
FROM stock_item s
WHERE s.id = $1 AND s.kind = 'STOCK'
/*pg: FOR NO KEY UPDATE*/

-- name: stock_item_low_at
-- Reads the alarm levels after inventory_lock. A join there would return the levels from before the wait for the lock.
SELECT s.id, s.branch_id, s.sku, coalesce(s.low_at, -1)
FROM stock_item s
JOIN @rows($1: item int) AS r ON s.id = r.item

-- name: stock_item_skus
SELECT s.id, s.sku FROM stock_item s JOIN @rows($1: item int) AS r ON s.id = r.item

-- name: stock_item_select
SELECT s.id, s.branch_id, s.sku, s.name, s.unit, coalesce(s.low_at, -1)
FROM stock_item s
WHERE s.id = $1 AND s.kind = 'STOCK'

-- name: stock_item_update
UPDATE stock_item SET name = $2, unit = $3, low_at = $4, updated_at = $5 WHERE id = $1

-- name: voucher_counter_insert
INSERT INTO stock_item (branch_id, sku, kind, created_at, updated_at)
VALUES ($1, $2, 'VOUCHER', $3, $3)
RETURNING id
