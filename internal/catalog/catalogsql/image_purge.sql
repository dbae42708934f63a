-- Pictures that no dish shows. Dishes are few, so their addresses are read once.
DELETE FROM image
WHERE created_at < $1
  AND hash NOT IN (SELECT substr(d.image_url, 8, 32) FROM dish d WHERE d.image_url LIKE '/media/%-960.jpg')
