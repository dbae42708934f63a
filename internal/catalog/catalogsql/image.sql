-- name: image_count
SELECT COUNT(DISTINCT hash) FROM image

-- name: image_insert
-- An image that is uploaded again is renewed.
INSERT INTO image (hash, width, bytes, created_at) VALUES ($1, $2, $3, $4)
ON CONFLICT (hash, width) DO UPDATE SET created_at = excluded.created_at

-- name: image_purge
-- Images that neither a dish nor the restaurant's brand shows. There are few dishes, so their URLs are read once.
DELETE FROM image
WHERE created_at < $1
  AND hash NOT IN (SELECT substr(d.image_url, 8, 32) FROM dish d WHERE d.image_url LIKE '/media/%-960.jpg')
  AND NOT EXISTS (SELECT 1 FROM house_setting b WHERE b.name = 'brand' AND b.value LIKE '%' || image.hash || '%')

-- name: image_select
SELECT bytes FROM image WHERE hash = $1 AND width = $2

-- name: image_touch
-- Renews the age of an image that is put on a dish, so that a purge that runs at the same time keeps it.
UPDATE image SET created_at = $2 WHERE hash = $1
