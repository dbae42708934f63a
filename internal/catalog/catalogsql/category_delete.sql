-- Dishes refer to their category, so that one with dishes is refused.
DELETE FROM category WHERE id = $1
RETURNING version
