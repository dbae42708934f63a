-- Whoever has seen another state than the one that is there now comes too late.
UPDATE document_plane
SET building = $2, building_server = $3, entity = $4, after_id = $5, claimed_until = $6
WHERE id = 1 AND building = $1 AND claimed_until <= $7
