UPDATE cart SET version = (SELECT version + 1 FROM document_tombstone WHERE entity = 'cart' AND id = $1)
WHERE CAST(id AS TEXT) = $1 AND version <= (SELECT version FROM document_tombstone WHERE entity = 'cart' AND id = $1)
