-- A menu item keeps the key that a menu file gives it, so that a later file changes the same dish under another name.

-- +goose Up
ALTER TABLE menu_item ADD COLUMN import_key @key; -- NULL: in no file yet; its key follows from the dish's name
CREATE UNIQUE INDEX menu_item_import_key ON menu_item (menu_id, import_key) WHERE import_key IS NOT NULL;
INSERT INTO schema_floor (version, oldest) VALUES (30, 20);

-- +goose Down
DROP INDEX menu_item_import_key;
ALTER TABLE menu_item DROP COLUMN import_key;
DELETE FROM schema_floor WHERE version = 30;
