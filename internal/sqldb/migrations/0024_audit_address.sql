-- The address from which a change was requested. Existing entries have none, and keep their hashes.

-- +goose Up
ALTER TABLE audit_log ADD COLUMN address TEXT NOT NULL DEFAULT '';
INSERT INTO schema_floor (version, oldest) VALUES (24, 20);

-- +goose Down
ALTER TABLE audit_log DROP COLUMN address;
DELETE FROM schema_floor WHERE version = 24;
