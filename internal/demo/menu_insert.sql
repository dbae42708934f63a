INSERT INTO menu (id, branch_id, name)
SELECT r.id, r.branch_id, r.name
FROM @rows($1: id int, branch_id int, name text) AS r
