INSERT INTO document_plane (id, epoch) VALUES (1, '') ON CONFLICT (id) DO NOTHING
