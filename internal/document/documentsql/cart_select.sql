SELECT c.id, c.user_id, c.created_at, c.updated_at, c.created_by, c.updated_by, c.version
FROM cart c
WHERE c.id /*pg: = ANY ($1) *//*sqlite: IN (SELECT id FROM @rows($1: id int)) */
