-- name: setting_delete
DELETE FROM house_setting WHERE name = $1

-- name: setting_list
SELECT name, value, sealed, updated_at, updated_by FROM house_setting WHERE name <> '' ORDER BY name

-- name: setting_lock
-- Locks all settings by locking the row without a name.
SELECT name FROM house_setting WHERE name = '' /*pg: FOR UPDATE */

-- name: setting_upsert
INSERT INTO house_setting (name, value, sealed, updated_at, updated_by)
VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (name) DO UPDATE
SET value = excluded.value, sealed = excluded.sealed, updated_at = excluded.updated_at, updated_by = excluded.updated_by
