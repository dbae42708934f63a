UPDATE app_user SET version = (SELECT version + 1 FROM document_tombstone WHERE entity = 'user' AND id = $1)
WHERE CAST(id AS TEXT) = $1 AND version <= (SELECT version FROM document_tombstone WHERE entity = 'user' AND id = $1)
