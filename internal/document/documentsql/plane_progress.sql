UPDATE document_plane SET entity = $2, after_id = $3, claimed_until = $4
WHERE id = 1 AND building = $1
