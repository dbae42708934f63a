-- An adjustment that is repeated under its key has one effect, and returns the first result.

-- +goose Up
ALTER TABLE stock_adjustment ADD COLUMN client_txn_id @key;                 -- NULL: sent without a key
ALTER TABLE stock_adjustment ADD COLUMN digest TEXT NOT NULL DEFAULT '';    -- of the request
ALTER TABLE stock_adjustment ADD COLUMN reserved BIGINT NOT NULL DEFAULT 0; -- afterwards; 0 in rows from before
ALTER TABLE stock_adjustment ADD COLUMN sold BIGINT NOT NULL DEFAULT 0;     -- the same
CREATE UNIQUE INDEX stock_adjustment_txn ON stock_adjustment (branch_id, client_txn_id) WHERE client_txn_id IS NOT NULL;

-- +goose Down
DROP INDEX stock_adjustment_txn;
ALTER TABLE stock_adjustment DROP COLUMN sold;
ALTER TABLE stock_adjustment DROP COLUMN reserved;
ALTER TABLE stock_adjustment DROP COLUMN digest;
ALTER TABLE stock_adjustment DROP COLUMN client_txn_id;
