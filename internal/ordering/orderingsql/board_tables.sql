SELECT v.id, t.label
FROM visit v
JOIN dining_table t ON t.id = v.table_id
JOIN @rows($1: id text) AS r ON v.id = r.id
