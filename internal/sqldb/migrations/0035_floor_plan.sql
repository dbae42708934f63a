-- Adds the place and the shape of a table on the plan of its section.

-- +goose Up
ALTER TABLE dining_table ADD COLUMN plan_column SMALLINT;               -- NULL, as plan_row: not on the plan
ALTER TABLE dining_table ADD COLUMN plan_row SMALLINT;
ALTER TABLE dining_table ADD COLUMN shape TEXT NOT NULL DEFAULT 'SQUARE'; -- SQUARE, ROUND, WIDE
INSERT INTO schema_floor (version, oldest) VALUES (35, 34);

-- +goose Down
ALTER TABLE dining_table DROP COLUMN shape;
ALTER TABLE dining_table DROP COLUMN plan_row;
ALTER TABLE dining_table DROP COLUMN plan_column;
DELETE FROM schema_floor WHERE version = 35;
