SELECT COUNT(*)
FROM app_user u
WHERE (CAST($1 AS TEXT) IS NULL OR lower(u.province /*pg: COLLATE "C"*/) = $1)
  AND (CAST($2 AS TEXT) IS NULL OR lower(u.city /*pg: COLLATE "C"*/) = $2)
  AND (CAST($3 AS BIGINT) IS NULL OR u.registered = $3)
