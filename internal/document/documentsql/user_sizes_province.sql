SELECT lower(province /*pg: COLLATE "C"*/), COUNT(*)
FROM app_user
WHERE province IS NOT NULL AND lower(province /*pg: COLLATE "C"*/) > $1
GROUP BY 1 ORDER BY 1 LIMIT $2
