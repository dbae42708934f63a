-- Vouchers: codes that take a discount of the branch off an order, a limited number of times. A voucher's uses are counted
-- like the units of a stock item, so an order holds one with its dishes.

-- +goose Up
ALTER TABLE stock_item ADD COLUMN kind TEXT NOT NULL DEFAULT 'STOCK'; -- STOCK, or VOUCHER for the uses of a voucher
CREATE TABLE voucher (
    item_id         BIGINT PRIMARY KEY REFERENCES stock_item (id),     -- counts its uses
    branch_id       BIGINT NOT NULL REFERENCES branch (id),
    code_hash       @key NOT NULL,
    hint            TEXT NOT NULL,                                      -- the first two characters of the code
    discount        TEXT NOT NULL,                                      -- code of one of the branch's discounts
    max_uses        BIGINT CHECK (max_uses > 0),                        -- NULL: no limit
    once_per_member INTEGER NOT NULL DEFAULT 0,
    min_goods       BIGINT NOT NULL DEFAULT 0 CHECK (min_goods >= 0),   -- minor units
    from_date       TEXT NOT NULL DEFAULT '',                           -- first business date; empty: from its creation on
    until_date      TEXT NOT NULL DEFAULT '',                           -- last business date; empty: no end
    created_at      BIGINT NOT NULL,
    ended_at        BIGINT                                              -- NULL: accepted
);
CREATE UNIQUE INDEX voucher_code ON voucher (branch_id, code_hash) WHERE ended_at IS NULL;
ALTER TABLE order_info ADD COLUMN voucher_id BIGINT;                    -- voucher.item_id
CREATE INDEX order_info_voucher ON order_info (voucher_id, user_id) WHERE voucher_id IS NOT NULL;
INSERT INTO schema_floor (version, oldest) VALUES (42, 40);

-- +goose Down
DROP INDEX order_info_voucher;
ALTER TABLE order_info DROP COLUMN voucher_id;
DROP TABLE voucher;
ALTER TABLE stock_item DROP COLUMN kind;
DELETE FROM schema_floor WHERE version = 42;
