-- Orders keep the names of their dishes in every language of the menu, so that guests read them in their own.

-- +goose Up
ALTER TABLE order_item ADD COLUMN names TEXT NOT NULL DEFAULT ''; -- JSON by locale; empty: name_snapshot alone is known
INSERT INTO schema_floor (version, oldest) VALUES (25, 20);

-- +goose Down
ALTER TABLE order_item DROP COLUMN names;
DELETE FROM schema_floor WHERE version = 25;
