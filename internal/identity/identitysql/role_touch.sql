UPDATE role SET updated_at = $2, updated_by = $3, version = version + 1
WHERE id IN (SELECT r.id FROM @rows($1: id int) AS r)
