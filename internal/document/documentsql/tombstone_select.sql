SELECT t.id, t.version
FROM document_tombstone t
JOIN @rows($2: id text) AS r ON t.id = r.id
WHERE t.entity = $1
