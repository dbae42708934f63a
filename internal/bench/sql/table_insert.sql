INSERT INTO dining_table (id, branch_id, label)
SELECT r.id, CAST($2 AS BIGINT), r.label
FROM @rows($1: id int, label text, token text) AS r
