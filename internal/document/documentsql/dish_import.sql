-- A row that is there already gets what is imported and the next version. One that was deleted goes on behind its tombstone.
INSERT INTO dish (id, image_url, category_id, names, descriptions, created_at, updated_at, created_by, updated_by,
    version)
SELECT r.id, r.image_url, r.category_id, r.names, r.descriptions, r.created_at, r.updated_at, r.created_by,
       r.updated_by, CASE WHEN r.version > r.deleted THEN r.version ELSE r.deleted + 1 END
FROM @rows($1: id int, image_url text, category_id int, names text, descriptions text, created_at int, updated_at int, created_by text, updated_by text, version int, deleted int) AS r
WHERE 1 = 1
ON CONFLICT (id) DO UPDATE SET
    image_url = excluded.image_url,
    category_id = excluded.category_id,
    names = excluded.names,
    descriptions = excluded.descriptions,
    updated_at = excluded.updated_at,
    created_by = excluded.created_by,
    updated_by = excluded.updated_by,
    version = CASE WHEN excluded.version > dish.version THEN excluded.version ELSE dish.version + 1 END
