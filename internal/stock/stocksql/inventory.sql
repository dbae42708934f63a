-- fragment: level_columns
s.id, s.branch_id, s.sku, s.name, s.unit, coalesce(s.low_at, -1), v.available, v.reserved, v.sold

-- fragment: level_matches
FROM stock_item s
JOIN inventory v ON v.branch_id = s.branch_id AND v.item_id = s.id
WHERE s.branch_id = $1
  AND (CAST($2 AS TEXT) = '' OR lower(s.sku) LIKE $2 ESCAPE '!' OR lower(s.name) LIKE $2 ESCAPE '!')
  AND (CAST($3 AS BIGINT) = 0 OR v.available <= s.low_at)

-- name: adjustment_count
SELECT count(*) FROM stock_adjustment WHERE item_id = $1

-- name: adjustment_earlier
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
-- An empty text chooses all; $3 = 1 chooses those for which an alarm stands.
SELECT count(*)
@level_matches

-- name: level_list
-- An empty text chooses all; $3 = 1 chooses those for which an alarm stands.
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
-- Sorted, so that two processes never wait for each other.
INSERT INTO stock_rank (item_id, score, updated_at)
SELECT s.id, r.reads, CAST($2 AS BIGINT)
FROM @rows($1: branch_id int, sku text, reads int) AS r
JOIN stock_item s ON s.branch_id = r.branch_id AND s.sku = r.sku
WHERE true
ORDER BY s.id
ON CONFLICT (item_id) DO UPDATE SET score = stock_rank.score + excluded.score

-- name: rank_delete
DELETE FROM stock_rank WHERE score = 0

-- name: rank_fade
-- What was read an hour ago counts half; updated_at is when a score was halved last, so that any number of processes
-- halves it once.
UPDATE stock_rank SET score = score / 2, updated_at = $1 WHERE updated_at <= $2

-- name: rank_top
SELECT @level_columns
FROM stock_rank k
JOIN stock_item s ON s.id = k.item_id
JOIN inventory v ON v.branch_id = s.branch_id AND v.item_id = s.id
ORDER BY k.score DESC, k.item_id
LIMIT $1

-- name: thing_anywhere
-- Of messages that do not say in which branch: the reference's have no branches.
SELECT s.id, s.branch_id, s.sku, s.name, s.unit, coalesce(s.low_at, -1)
FROM stock_item s
JOIN @rows($1: sku text) AS r ON s.sku = r.sku

-- name: thing_find
SELECT s.id, s.branch_id, s.sku, s.name, s.unit, coalesce(s.low_at, -1)
FROM stock_item s
JOIN @rows($1: branch_id int, sku text) AS r ON s.branch_id = r.branch_id AND s.sku = r.sku

-- name: thing_insert
-- Of a branch that is not there nothing is made.
INSERT INTO stock_item (branch_id, sku, created_at, updated_at)
SELECT b.id, CAST($2 AS TEXT), CAST($3 AS BIGINT), CAST($3 AS BIGINT) FROM branch b WHERE b.id = $1
ON CONFLICT DO NOTHING

-- name: thing_lock
SELECT s.id, s.branch_id, s.sku, s.name, s.unit, coalesce(s.low_at, -1)
FROM stock_item s
WHERE s.id = $1
/*pg: FOR NO KEY UPDATE*/

-- name: thing_marks
-- Read once the counters are locked: in the statement that locks them it would be what it was before the wait.
SELECT s.id, s.branch_id, s.sku, coalesce(s.low_at, -1)
FROM stock_item s
JOIN @rows($1: item int) AS r ON s.id = r.item

-- name: thing_names
SELECT s.id, s.sku FROM stock_item s JOIN @rows($1: item int) AS r ON s.id = r.item

-- name: thing_select
SELECT s.id, s.branch_id, s.sku, s.name, s.unit, coalesce(s.low_at, -1) FROM stock_item s WHERE s.id = $1

-- name: thing_update
UPDATE stock_item SET name = $2, unit = $3, low_at = $4, updated_at = $5 WHERE id = $1
