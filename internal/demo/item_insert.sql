INSERT INTO menu_item (id, menu_id, branch_id, dish_id, daily_quota)
SELECT r.id, r.menu_id, r.branch_id, r.dish_id, r.quota
FROM @rows($1: id int, menu_id int, branch_id int, dish_id int, quota int) AS r
