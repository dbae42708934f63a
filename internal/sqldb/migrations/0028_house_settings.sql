-- The owner changes settings of the restaurant in the console instead of in the environment of each process.

-- +goose Up
CREATE TABLE house_setting (
    name       @key PRIMARY KEY,
    value      TEXT NOT NULL,                    -- sealed if it is a secret
    sealed     SMALLINT NOT NULL CHECK (sealed IN (0, 1)),
    updated_at BIGINT NOT NULL,
    updated_by TEXT NOT NULL
);
-- The lock of all settings.
INSERT INTO house_setting (name, value, sealed, updated_at, updated_by) VALUES ('', '', 0, 0, 'system');
INSERT INTO schema_floor (version, oldest) VALUES (28, 20);

-- +goose Down
DROP TABLE house_setting;
DELETE FROM schema_floor WHERE version = 28;
