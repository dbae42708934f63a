INSERT INTO menu_item (id, menu_id, branch_id, dish_id, daily_quota)
SELECT r.id, CAST($2 AS BIGINT), CAST($2 AS BIGINT), r.id, r.quota
FROM @rows($1: id int, quota int, price int) AS r
