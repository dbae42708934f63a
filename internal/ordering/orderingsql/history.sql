-- name: history_dishes
SELECT id, names FROM dish

-- name: history_existing
SELECT o.id, o.digest FROM order_info o JOIN @rows($1: id text) AS r ON o.id = r.id

-- name: history_existing_keys
SELECT r.id, o.digest
FROM @rows($1: id text, branch_id int, key text) AS r
/*sqlite: CROSS*/ JOIN order_info o ON o.branch_id = r.branch_id AND o.client_txn_id = r.key

-- name: history_item_ensure
-- The first menu of a branch gets the dishes that no menu of the branch has.
INSERT INTO menu_item (menu_id, branch_id, dish_id)
SELECT (SELECT min(m.id) FROM menu m WHERE m.branch_id = r.branch), r.branch, r.dish
FROM @rows($1: branch int, dish int) AS r
WHERE NOT EXISTS (SELECT 1 FROM menu_item i WHERE i.branch_id = r.branch AND i.dish_id = r.dish)
  AND EXISTS (SELECT 1 FROM menu m WHERE m.branch_id = r.branch)
ORDER BY r.branch, r.dish
ON CONFLICT DO NOTHING

-- name: history_items
SELECT i.branch_id, i.dish_id, min(i.id)
FROM @rows($1: branch int, dish int) AS r
/*sqlite: CROSS*/ JOIN menu_item i ON i.branch_id = r.branch AND i.dish_id = r.dish
GROUP BY i.branch_id, i.dish_id

-- name: history_members
SELECT u.id FROM app_user u JOIN @rows($1: id int) AS r ON u.id = r.id

-- name: history_numbered
SELECT r.id
FROM @rows($1: id text, branch_id int, biz_date text, number int) AS r
/*sqlite: CROSS*/ JOIN order_info o ON o.branch_id = r.branch_id AND o.biz_date = r.biz_date AND o.number = r.number

-- name: history_refunded
UPDATE order_info SET refunded_amount = r.amount
FROM @rows($1: id text, amount int) AS r
WHERE order_info.id = r.id
