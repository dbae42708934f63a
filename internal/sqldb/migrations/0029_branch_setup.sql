-- The staff create branches, give them opening hours and retire them.

-- +goose Up
ALTER TABLE branch ADD COLUMN country TEXT NOT NULL DEFAULT ''; -- ISO 3166-1 alpha-2; empty: not stated
ALTER TABLE branch ADD COLUMN hours TEXT NOT NULL DEFAULT '';   -- JSON, see catalogsql; empty: open at all hours
ALTER TABLE branch ADD COLUMN retired_at BIGINT;                -- NULL: in use
ALTER TABLE branch ADD COLUMN client_txn_id @key;               -- of the request that created it; NULL: sent without a key
ALTER TABLE branch ADD COLUMN digest TEXT NOT NULL DEFAULT '';  -- of the request
CREATE UNIQUE INDEX branch_txn ON branch (client_txn_id) WHERE client_txn_id IS NOT NULL;
INSERT INTO schema_floor (version, oldest) VALUES (29, 20);

-- +goose Down
DROP INDEX branch_txn;
ALTER TABLE branch DROP COLUMN digest;
ALTER TABLE branch DROP COLUMN client_txn_id;
ALTER TABLE branch DROP COLUMN retired_at;
ALTER TABLE branch DROP COLUMN hours;
ALTER TABLE branch DROP COLUMN country;
DELETE FROM schema_floor WHERE version = 29;
