INSERT INTO dining_table (id, branch_id, label)
SELECT r.id, r.branch_id, r.label
FROM @rows($1: id int, branch_id int, label text) AS r
