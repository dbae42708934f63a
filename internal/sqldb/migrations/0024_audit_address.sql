-- From where a change was asked for. Entries that are there already have no address, and keep the hash that they have.

-- +goose Up
ALTER TABLE audit_log ADD COLUMN address TEXT NOT NULL DEFAULT '';
INSERT INTO schema_floor (version, oldest) VALUES (24, 20);

-- +goose Down
ALTER TABLE audit_log DROP COLUMN address;
DELETE FROM schema_floor WHERE version = 24;
