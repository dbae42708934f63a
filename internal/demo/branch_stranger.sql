-- A branch that bears one of our ids and is not ours.
SELECT b.name
FROM branch b
JOIN @rows($1: id int, name text) AS r ON r.id = b.id
WHERE b.name <> r.name
