SELECT dead FROM document_tombstone WHERE entity = $1
