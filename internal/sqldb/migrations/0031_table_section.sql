-- Adds the section of a table, such as the terrace.

-- +goose Up
ALTER TABLE dining_table ADD COLUMN section TEXT NOT NULL DEFAULT ''; -- empty: none
INSERT INTO schema_floor (version, oldest) VALUES (31, 20);

-- +goose Down
ALTER TABLE dining_table DROP COLUMN section;
DELETE FROM schema_floor WHERE version = 31;
