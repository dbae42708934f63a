UPDATE document_plane
SET epoch = building, server = building_server, building = '', entity = '', after_id = '', claimed_until = 0
WHERE id = 1 AND building = $1
