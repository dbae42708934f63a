-- name: image_count
SELECT COUNT(DISTINCT hash) FROM image

-- name: image_insert
-- A repeated upload renews the image's age.
INSERT INTO image (hash, width, bytes, created_at) VALUES ($1, $2, $3, $4)
ON CONFLICT (hash, width) DO UPDATE SET created_at = excluded.created_at

-- name: image_purge
-- Deletes images that neither a dish nor the restaurant's brand uses. There are few dishes, so their URLs are read once.
DELETE FROM image
WHERE created_at < $1
  AND hash NOT IN (SELECT substr(d.image_url, 8, 32) FROM dish d WHERE d.image_url LIKE '/media/%-960.jpg')
  AND NOT EXISTS (SELECT 1 FROM house_setting b WHERE b.name = 'brand' AND b.value LIKE '%' || image.hash || '%')

-- name: image_select
SELECT bytes FROM image WHERE hash = $1 AND width = $2

-- name: image_touch
-- Renews the age of an image when a dish starts to use it, so that a concurrent purge keeps it.
UPDATE image SET created_at = $2 WHERE hash = $1
