-- A picture that is put on a dish is kept: whoever is just deleting it looks at its age again.
UPDATE image SET created_at = $2 WHERE hash = $1
