INSERT INTO menu_version_item (version_id, item_id, sort, price, daily_quota)
SELECT r.version_id, r.item_id, r.sort, r.price, r.quota
FROM @rows($1: version_id int, item_id int, sort int, price int, quota int) AS r
