UPDATE document_plane SET epoch = '', building = '', claimed_until = 0 WHERE id = 1 AND epoch = $1
