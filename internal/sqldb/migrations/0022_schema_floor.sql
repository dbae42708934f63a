-- Which binaries may run on the schema: those that know at least the migration that stands in oldest. Every migration
-- from here on states it for itself.

-- +goose Up
CREATE TABLE schema_floor (
    version BIGINT PRIMARY KEY,
    oldest  BIGINT NOT NULL
);
INSERT INTO schema_floor (version, oldest) VALUES (21, 20), (22, 20);

-- +goose Down
DROP TABLE schema_floor;
