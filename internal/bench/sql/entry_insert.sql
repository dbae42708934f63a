INSERT INTO menu_version_item (version_id, item_id, sort, price, daily_quota)
SELECT CAST($2 AS BIGINT), r.id, r.id, r.price, r.quota
FROM @rows($1: id int, quota int, price int) AS r
