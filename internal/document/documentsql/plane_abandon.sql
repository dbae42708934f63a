UPDATE document_plane SET building = '', claimed_until = 0 WHERE id = 1 AND building = $1
