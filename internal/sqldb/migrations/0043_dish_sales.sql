-- Documents of dishes say what each branch can sell now. A loop keeps the columns: see decision 65.

-- +goose Up
ALTER TABLE dish ADD COLUMN sale_branches TEXT NOT NULL DEFAULT '{}'; -- JSON by branch, see catalog.DishSale
ALTER TABLE dish ADD COLUMN sale_stock BIGINT;                        -- sum of the branches; NULL: no limit
ALTER TABLE dish ADD COLUMN sale_sold BIGINT;                         -- sum of the branches; NULL: on no menu
ALTER TABLE dish ADD COLUMN sale_open INTEGER NOT NULL DEFAULT 1;     -- 1: a branch can sell it; until the loop has run: 1
-- Documents get new fields and an index, so they are rebuilt.
UPDATE document_plane SET epoch = '', building = '', claimed_until = 0;
INSERT INTO schema_floor (version, oldest) VALUES (43, 40);

-- +goose Down
UPDATE document_plane SET epoch = '', building = '', claimed_until = 0;
ALTER TABLE dish DROP COLUMN sale_open;
ALTER TABLE dish DROP COLUMN sale_sold;
ALTER TABLE dish DROP COLUMN sale_stock;
ALTER TABLE dish DROP COLUMN sale_branches;
DELETE FROM schema_floor WHERE version = 43;
