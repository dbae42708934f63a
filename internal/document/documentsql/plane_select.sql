SELECT epoch, server, building, building_server, entity, after_id, claimed_until
FROM document_plane WHERE id = 1
