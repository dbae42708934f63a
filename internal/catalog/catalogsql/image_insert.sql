-- A picture that is sent again is as good as new.
INSERT INTO image (hash, width, bytes, created_at) VALUES ($1, $2, $3, $4)
ON CONFLICT (hash, width) DO UPDATE SET created_at = excluded.created_at
