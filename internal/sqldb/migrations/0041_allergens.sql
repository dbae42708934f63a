-- Dishes and options declare allergens and diets. They are facts of the dish, so they are not part of a menu version.

-- +goose Up
ALTER TABLE dish ADD COLUMN allergens TEXT NOT NULL DEFAULT '';          -- JSON, see catalog.Allergens; empty: not declared
ALTER TABLE dish ADD COLUMN diets TEXT NOT NULL DEFAULT '';              -- codes separated by spaces
ALTER TABLE option_choice ADD COLUMN allergens TEXT NOT NULL DEFAULT ''; -- of COMBO: always empty, the dish declares them
ALTER TABLE option_choice ADD COLUMN diets TEXT NOT NULL DEFAULT '';
INSERT INTO schema_floor (version, oldest) VALUES (41, 40);

-- +goose Down
ALTER TABLE option_choice DROP COLUMN diets;
ALTER TABLE option_choice DROP COLUMN allergens;
ALTER TABLE dish DROP COLUMN diets;
ALTER TABLE dish DROP COLUMN allergens;
DELETE FROM schema_floor WHERE version = 41;
