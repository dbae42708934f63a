SELECT lower(city /*pg: COLLATE "C"*/), COUNT(*)
FROM app_user
WHERE city IS NOT NULL AND lower(city /*pg: COLLATE "C"*/) > $1
GROUP BY 1 ORDER BY 1 LIMIT $2
